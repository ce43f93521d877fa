import type { Ctx } from '../../../api/ctx.ts'
import { asAccount } from '../../accounts/index.ts'
import type { ProjectOrGroupHolder } from '../../groups/index.ts'
import { isNumbered, kindOf, type NumberedType, numberedTypes } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { groupOfText, pathWithin } from '../noteables/reference.ts'
import { insertCrossReference, type ReferenceSource } from '../notes/cross-reference-queries.ts'
import { type NamedNoteable, namedNoteables } from '../notes/references.ts'
import { findNamed, type TextSource } from './queries.ts'

/** A project or group with a text. */
export type TextPlace = ProjectOrGroupHolder & { readonly full_path: string }

/** A noteable that a text names. */
export type NamedRow = Noteable & { readonly type: NumberedType } & { readonly iid: number; readonly full_path: string }

/** The texts about a commit and its message mention the same way. */
export const commitAsSource = (place: TextPlace, oid: string): Source => ({
  place,
  source: { projectId: place.id, commit: oid },
  nameWithin: (path) => `commit ${path === '' ? '' : `${path}@`}${oid}`,
})

/** What mentions or closes noteables. */
export type Source = {
  /** The project or group to which references without a path belong. */
  readonly place: TextPlace
  readonly source: ReferenceSource
  /** How system notes name the source after the path of its project or group: `merge request !1`. */
  readonly nameWithin: (path: string) => string
}

/** A description or note as what mentions. */
export function sourceOf({ type, id, name, holder_id, full_path }: TextSource): Source {
  const { noun, sign } = kindOf(type)
  const holder = { of: kindOf(type).holder.of, id: holder_id }
  const place = { ...holder, full_path }
  if (!isNumbered(type)) return commitAsSource(place, name)
  return { place, source: { noteable: { type, id, holder } }, nameWithin: (path) => `${noun} ${path}${sign}${name}` }
}

/** A text that may mention noteables. */
export type Mentioning = Source & {
  readonly text: string
  /** The user who wrote it, or who pushed the commit: only noteables that they may read are mentioned. */
  readonly authorId: number
}

/**
 * The full path, in lower case, of the holder of a noteable that a text names: a project is named by its path in the group of the text,
 * a group by its full path. Undefined for a text of a group that names no project.
 */
function fullPath(type: NumberedType, path: string | undefined, place: Pick<TextPlace, 'of' | 'full_path'>) {
  const isOfGroup = kindOf(type).holder.of === 'group'
  if (path !== undefined) return isOfGroup || path.includes('/') ? path : `${groupOfText(place)}/${path}`.toLowerCase()
  if (isOfGroup) return groupOfText(place).toLowerCase()
  return place.of === 'project' ? place.full_path.toLowerCase() : undefined
}

/** The noteables of a kind that a text of this project or group names, of those that the caller may read. At most one statement. */
export async function readableNamed(
  ctx: Ctx,
  type: NumberedType,
  named: readonly NamedNoteable[],
  place: Pick<TextPlace, 'of' | 'full_path'>,
): Promise<NamedRow[]> {
  const names = named.flatMap((each) => {
    const path = each.type === type ? fullPath(type, each.path, place) : undefined
    return path === undefined ? [] : { path, iid: each.iid }
  })
  const rows = names.length > 0 ? await findNamed(ctx.db, ctx.actor, type, names) : []
  return rows.map(({ id, iid, holder_id, full_path }) => ({
    type,
    id,
    iid,
    full_path,
    holder: { of: kindOf(type).holder.of, id: holder_id },
  }))
}

/** The name of a source in a system note of this noteable: as short as a reference there can be. */
export const sourceName = (
  { place, nameWithin }: Source,
  { holder, full_path }: Pick<NamedRow, 'holder' | 'full_path'>,
): string => nameWithin(pathWithin(place, { ...holder, full_path }))

const isItself = (source: ReferenceSource, { type, id }: Pick<Noteable, 'type' | 'id'>): boolean =>
  'noteable' in source && source.noteable.type === type && source.noteable.id === id

/**
 * Adds a system note to each noteable that a text mentions, once for each source; not to the source itself, and not to the issues of
 * `except`. At most 100. A statement for the author, one for each kind that is named, and one for each note.
 */
export async function addCrossReferences(
  ctx: Ctx,
  { text, authorId, ...from }: Mentioning,
  except: ReadonlySet<number> = new Set(),
): Promise<void> {
  const named = namedNoteables(text, ctx.site.url)
  const author = named.length > 0 ? await asAccount(ctx, authorId) : undefined
  if (!author) return
  for (const type of numberedTypes)
    for (const row of await readableNamed(author, type, named, from.place)) {
      if (isItself(from.source, row) || (type === 'Issue' && except.has(row.id))) continue
      const body = `mentioned in ${sourceName(from, row)}`
      await ctx.transaction((tx) => insertCrossReference(tx, row, { authorId, body, source: from.source }))
    }
}
