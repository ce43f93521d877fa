import type { Endpoint } from '../src/api/endpoint.ts'
import { endpoints } from '../src/modules/endpoints.ts'
import type { Client } from './world.ts'

type Compared = {
  readonly id: number
  readonly path: string
  readonly path_with_namespace: string
  readonly name: string
}

/** The field of a record in a list that names it in paths. */
const fieldOf = (parameter: string): string =>
  ({
    ':issue_iid': 'iid',
    ':merge_request_iid': 'iid',
    ':branch': 'name',
    ':name': 'name',
    ':tag_name': 'tag_name',
    ':key': 'key',
    ':slug': 'slug',
    ':issue_link_id': 'issue_link_id',
  })[parameter] ?? 'id'

const records = async (client: Client, path: string): Promise<readonly Record<string, string | number>[]> => {
  const { json } = await client.get(`${path}?per_page=100`)
  return Array.isArray(json) ? json : []
}

/** Pairs of addresses below two projects, in the order of their lists. */
async function addresses(
  client: Client,
  [first, second]: readonly [string, string],
  rest: string,
): Promise<(readonly [string, string])[]> {
  const [, list, parameter, more] = /^(.*?)\/(:\w+)(.*)$/.exec(rest) ?? []
  if (list === undefined) return [[first + rest, second + rest]]
  const [left, right] = [await records(client, first + list), await records(client, second + list)]
  const field = list.endsWith('/tags') ? 'name' : fieldOf(parameter!)
  const pairs = left.flatMap((record, index) => {
    const other = right[index]
    return other?.[field] === undefined || record[field] === undefined ? [] : [[record[field], other[field]] as const]
  })
  const found = pairs.map(([one, two]) =>
    addresses(
      client,
      [`${first}${list}/${encodeURIComponent(one)}`, `${second}${list}/${encodeURIComponent(two)}`],
      more!,
    ),
  )
  return (await Promise.all(found)).flat()
}

/** A response without ids and without what names the project. */
function comparable(json: unknown, { path_with_namespace, path, name }: Compared, fields: ReadonlySet<string>): string {
  const known = [path_with_namespace, path, name]
  return JSON.stringify(
    json,
    (key, value: unknown) => {
      if (fields.has(key)) return undefined
      if (typeof value === 'number' && /(?:^|_)id$/.test(key)) return 0
      if (typeof value !== 'string') return value
      const plain = known.reduce((text, each) => text.replaceAll(each, '<project>'), value)
      return /^(?:https?|ssh):|^\/|<a /.test(value) ? plain.replaceAll(/\d+/g, '0') : plain
    },
    1,
  )
}

/**
 * Addresses of `GET` at which the responses for two projects differ, apart from ids and `fields`, with both. Endpoints in `skips` are
 * not compared.
 */
export async function unlikeAnswers(
  client: Client,
  [left, right]: readonly [Compared, Compared],
  { skips, fields }: { readonly skips: RegExp; readonly fields: ReadonlySet<string> },
): Promise<{ readonly compared: number; readonly unlike: Readonly<Record<string, readonly [string, string]>> }> {
  const unlike: Record<string, readonly [string, string]> = {}
  let compared = 0
  const isRead = ({ method, path }: Endpoint) => method === 'GET' && /^\/projects\/:id(\/|$)/.test(path)
  for (const { path } of endpoints.filter((each) => isRead(each) && !skips.test(each.path))) {
    const rest = path.slice('/projects/:id'.length)
    for (const [one, two] of await addresses(client, [`/projects/${left.id}`, `/projects/${right.id}`], rest)) {
      const [before, after] = await Promise.all([client.get(one), client.get(two)])
      const texts = [
        `${before.status} ${comparable(before.json ?? before.text, left, fields)}`,
        `${after.status} ${comparable(after.json ?? after.text, right, fields)}`,
      ] as const
      compared++
      if (texts[0] !== texts[1]) unlike[one.replace(/^\/projects\/\d+/, '')] = texts
    }
  }
  return { compared, unlike }
}
