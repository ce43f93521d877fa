import type { Ctx } from '../../../api/ctx.ts'
import { asAccount } from '../../accounts/index.ts'
import { insertCrossReference, namedNoteables, pathWithin, type ReferenceSource } from '../../discussion/index.ts'
import { findNamed } from './queries.ts'

/** A text that may mention merge requests. */
export type Mentioning = {
  readonly text: string
  /** The user who wrote it, or who pushed the commit: only merge requests that they may read are mentioned. */
  readonly authorId: number
  /** The project to which references without a path belong. */
  readonly project: { readonly id: number; readonly full_path: string }
  readonly source: ReferenceSource
  /** How system notes name the source within a project: `merge request !1`. */
  readonly nameWithin: (path: string) => string
}

/** The full path, in lower case, of a project named in a text. */
function fullPath(path: string | undefined, projectPath: string): string {
  if (path === undefined) return projectPath.toLowerCase()
  if (path.includes('/')) return path
  return `${projectPath.slice(0, projectPath.lastIndexOf('/') + 1)}${path}`.toLowerCase()
}

/**
 * Adds a system note to each merge request that a text mentions, once for each source; not to the source itself. At most 100. Two
 * statements, and one for each note.
 */
export async function addCrossReferences(
  ctx: Ctx,
  { text, authorId, project, source, ...named }: Mentioning,
): Promise<void> {
  const noteables = namedNoteables(text, ctx.site.url)
  const author = noteables.length > 0 ? await asAccount(ctx, authorId) : undefined
  if (!author) return
  const names = noteables
    .filter(({ type }) => type === 'MergeRequest')
    .map(({ path, iid }) => ({ path: fullPath(path, project.full_path), iid }))
  for (const { id, project_id, full_path } of await findNamed(ctx.db, author.actor, names)) {
    if ('noteable' in source && source.noteable.id === id) continue
    const path = pathWithin(project, { of: 'project', id: project_id, full_path })
    const body = `mentioned in ${named.nameWithin(path)}`
    await ctx.transaction((tx) => insertCrossReference(tx, { type: 'MergeRequest', id }, { authorId, body, source }))
  }
}
