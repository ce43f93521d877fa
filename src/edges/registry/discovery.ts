import type { Ctx } from '../../api/ctx.ts'
import { type ContentDigest, catalogAfter, prefixed, referrersOf, tagNamesAfter } from '../../modules/registry/index.ts'
import { type Exchange, type Headers, sendText } from '../http/answer.ts'
import { RegistryError, versionHeader } from './errors.ts'
import type { RegistryExchange } from './registry-exchange.ts'

/** Entries of a list unless the client asks for fewer; a `Link` leads to the rest. */
const maxEntries = 1000
const maxReferrers = 100

const send = (exchange: Exchange, contentType: string, value: unknown, headers: Headers = {}): void =>
  sendText(exchange, 200, JSON.stringify(value), { ...versionHeader, 'content-type': contentType, ...headers })

const json = 'application/json; charset=utf-8'

/** `n` of a list: how many entries the client wants. */
function countOf(query: URLSearchParams): number {
  const text = query.get('n')
  if (text === null) return maxEntries
  if (!/^\d{1,9}$/.test(text)) throw new RegistryError('PAGINATION_NUMBER_INVALID', { detail: { n: text } })
  return Math.min(Number(text), maxEntries)
}

/** `last` of a list: the entry before the first one. NUL is before everything. */
const lastOf = (query: URLSearchParams): string => (query.get('last') ?? '').replaceAll('\0', '')

const linkTo = (path: string, parameters: Record<string, string>): Headers => ({
  link: `<${path}?${new URLSearchParams(parameters)}>; rel="next"`,
})

/** A page of a list of names that was asked for one entry more. */
function sendNames(
  exchange: Exchange,
  path: string,
  count: number,
  names: readonly string[],
  body: (page: string[]) => object,
) {
  const page = names.slice(0, count)
  const last = page.at(-1)
  const next = names.length > count && last !== undefined ? linkTo(path, { last, n: String(count) }) : {}
  send(exchange, json, body(page), next)
}

export async function serveTags({ exchange, ctx, place, name, query }: RegistryExchange): Promise<void> {
  const count = countOf(query)
  const names = await tagNamesAfter(ctx.db, place.project.id, place.name, lastOf(query), count + 1)
  if (!names) throw new RegistryError('NAME_UNKNOWN', { detail: { name } })
  sendNames(exchange, `/v2/${name}/tags/list`, count, names, (tags) => ({ name, tags }))
}

export async function serveCatalog(exchange: Exchange, ctx: Ctx, query: URLSearchParams): Promise<void> {
  const count = countOf(query)
  const names = await catalogAfter(ctx.db, lastOf(query), count + 1)
  sendNames(exchange, '/v2/_catalog', count, names, (repositories) => ({ repositories }))
}

/** An index of the manifests about another one, which need not exist. */
export async function serveReferrers(call: RegistryExchange, subject: ContentDigest): Promise<void> {
  const { exchange, ctx, place, name, query } = call
  const asked = query.get('artifactType')
  const artifactType = asked === null || asked === '' || asked.includes('\0') ? undefined : asked
  const after = /^\d{1,15}$/.test(query.get('last') ?? '') ? Number(query.get('last')) : 0
  const found = await referrersOf(ctx.db, place.project.id, place.name, subject, {
    artifactType,
    after,
    limit: maxReferrers,
  })
  const last = found.at(-1)
  const isMore =
    last !== undefined &&
    (await referrersOf(ctx.db, place.project.id, place.name, subject, { artifactType, after: last.id, limit: 1 }))
      .length > 0
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: found.map((each) => ({
      mediaType: each.media_type,
      digest: prefixed(each.digest),
      size: each.size,
      ...(each.artifact_type !== null && { artifactType: each.artifact_type }),
      ...(each.annotations !== null && { annotations: JSON.parse(each.annotations) }),
    })),
  }
  send(exchange, index.mediaType, index, {
    ...(artifactType !== undefined && { 'oci-filters-applied': 'artifactType' }),
    ...(isMore &&
      linkTo(`/v2/${name}/referrers/${prefixed(subject)}`, {
        last: String(last.id),
        ...(artifactType !== undefined && { artifactType }),
      })),
  })
}
