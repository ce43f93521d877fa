import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { invalidFields, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { blank, lengthViolations, taken, tooLong, urlViolations, violationsOf } from '../../../kernel/violations.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import {
  deleteLink,
  findLink,
  findLinks,
  insertLinks,
  type LinkRow,
  type LinkValues,
  updateLink,
} from './link-queries.ts'
import { lockRelease } from './queries.ts'

const maxLengths = { name: 255, url: 2048 }

function linkUrlViolations(url: string): string[] {
  if (url.trim() === '') return [blank]
  if (url.length > maxLengths.url) return [tooLong(maxLengths.url)]
  return urlViolations(url, { schemes: ['http', 'https', 'ftp'] })
}

/** Throws `invalid` if a link breaks a rule, or has the name or URL of another one. */
function requireLink({ name, url }: LinkValues, others: readonly LinkValues[]): void {
  const violations = violationsOf({
    name: [
      ...(name.trim() === '' ? [blank] : []),
      ...lengthViolations(name, maxLengths.name),
      ...(others.some((other) => other.name === name) ? [taken] : []),
    ],
    url: [...linkUrlViolations(url), ...(others.some((other) => other.url === url) ? [taken] : [])],
  })
  if (violations) throw invalidFields(violations)
}

/** Throws the errors of the first invalid link. */
export const requireLinks = (links: readonly LinkValues[]): void =>
  links.forEach((link, index) => {
    requireLink(link, links.slice(0, index))
  })

/** Locks the release until the transaction ends, so that the checks stay valid. */
const changing = <T>(
  ctx: Ctx,
  { id }: ProjectSubject,
  tag: string,
  change: (tx: Tx, releaseId: number) => Promise<T>,
) =>
  ctx.transaction(async (tx) => {
    const releaseId = await lockRelease(tx, id, tag)
    if (releaseId === undefined) throw notFound('Release')
    return change(tx, releaseId)
  })

async function ownLink(tx: Tx, releaseId: number, id: number): Promise<LinkRow> {
  const link = await findLink(tx, releaseId, id)
  if (!link) throw rowNotFound()
  return link
}

export const createLink = (ctx: Ctx, project: ProjectSubject, tag: string, values: LinkValues): Promise<LinkRow> =>
  changing(ctx, project, tag, async (tx, releaseId) => {
    requireLink(values, await findLinks(tx, releaseId))
    const [link] = await insertLinks(tx, releaseId, [values])
    return link!
  })

/** Absent attributes stay. */
export const editLink = (
  ctx: Ctx,
  project: ProjectSubject,
  tag: string,
  id: number,
  changes: { [K in keyof LinkValues]?: LinkValues[K] | undefined },
): Promise<LinkRow> =>
  changing(ctx, project, tag, async (tx, releaseId) => {
    const link = await ownLink(tx, releaseId, id)
    const values = {
      name: changes.name ?? link.name,
      url: changes.url ?? link.url,
      link_type: changes.link_type ?? link.link_type,
    }
    requireLink(
      values,
      (await findLinks(tx, releaseId)).filter((other) => other.id !== id),
    )
    return updateLink(tx, id, values)
  })

/** Returns the deleted link. */
export const removeLink = (ctx: Ctx, project: ProjectSubject, tag: string, id: number): Promise<LinkRow> =>
  changing(ctx, project, tag, async (tx, releaseId) => {
    const link = await ownLink(tx, releaseId, id)
    await deleteLink(tx, id)
    return link
  })
