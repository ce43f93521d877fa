import type { Ctx } from '../../../api/ctx.ts'
import { asAccount } from '../../accounts/index.ts'
import { type NoteableType, noteableTypes } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { pathWithin } from '../noteables/reference.ts'
import { insertCrossReference, type ReferenceSource } from '../notes/cross-reference-queries.ts'
import { type NamedNoteable, namedNoteables } from '../notes/references.ts'
import { findNamed, type NamedRow } from './queries.ts'

/** What mentions or closes noteables. */
export type Source = {
  /** The project to which references without a path belong. */
  readonly project: { readonly id: number; readonly full_path: string }
  readonly source: ReferenceSource
  /** How system notes name the source within a project: `merge request !1`. */
  readonly nameWithin: (path: string) => string
}

/** A text that may mention noteables. */
export type Mentioning = Source & {
  readonly text: string
  /** The user who wrote it, or who pushed the commit: only noteables that they may read are mentioned. */
  readonly authorId: number
}

/** The full path, in lower case, of a project named in a text. */
function fullPath(path: string | undefined, projectPath: string): string {
  if (path === undefined) return projectPath.toLowerCase()
  if (path.includes('/')) return path
  return `${projectPath.slice(0, projectPath.lastIndexOf('/') + 1)}${path}`.toLowerCase()
}

/** The noteables of a kind that a text of this project names, of those that the caller may read. At most one statement. */
export async function readableNamed(
  ctx: Ctx,
  type: NoteableType,
  named: readonly NamedNoteable[],
  projectPath: string,
): Promise<NamedRow[]> {
  const names = named
    .filter((each) => each.type === type)
    .map(({ path, iid }) => ({ path: fullPath(path, projectPath), iid }))
  return names.length > 0 ? findNamed(ctx.db, ctx.actor, type, names) : []
}

/** The name of a source in a system note of this project: as short as a reference there can be. */
export const sourceName = (
  { project, nameWithin }: Source,
  { project_id: id, full_path }: Pick<NamedRow, 'project_id' | 'full_path'>,
): string => nameWithin(pathWithin(project, { of: 'project', id, full_path }))

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
  for (const type of noteableTypes)
    for (const row of await readableNamed(author, type, named, from.project.full_path)) {
      const noteable = { type, id: row.id }
      if (isItself(from.source, noteable) || (type === 'Issue' && except.has(row.id))) continue
      const body = `mentioned in ${sourceName(from, row)}`
      await ctx.transaction((tx) => insertCrossReference(tx, noteable, { authorId, body, source: from.source }))
    }
}
