import type { Commit } from '../../git/commits.ts'
import { emptyTreeOid } from '../../git/oid.ts'
import type { PatchLimits } from '../../git/patches.ts'
import type { Repository } from '../../git/repository.ts'
import { shownPath } from '../../git/text.ts'
import { type ChangedLine, changedFiles } from './changed-line.ts'
import { linesOf } from './diff-lines.ts'

/** Where in a diff something is said, as clients name it. */
export type Position = {
  readonly base_sha: string
  readonly start_sha: string
  readonly head_sha: string
  readonly position_type: 'text'
  readonly old_path: string
  readonly new_path: string
  /** Null for an added line. */
  readonly old_line: number | null
  /** Null for a removed line. */
  readonly new_line: number | null
}

export type WantedPosition = {
  readonly base_sha: string
  readonly start_sha: string
  readonly head_sha: string
  readonly old_path?: string
  readonly new_path?: string
  readonly old_line?: number
  readonly new_line?: number
}

/** A place in the diff; `at` is the line as comments name it, when the commit changed it. */
export type Place = { readonly position: Position; readonly at: ChangedLine | undefined }

/**
 * The place that is wanted, or `undefined` when the diff of the commit against its first parent does not show it. One line
 * number means an added or a removed line, both an unchanged one. Costs what the commit's diff costs.
 */
export async function findPlace(
  repo: Repository,
  commit: Commit,
  wanted: WantedPosition,
  limits: PatchLimits,
): Promise<Place | undefined> {
  const { old_line = null, new_line = null, base_sha, start_sha, head_sha } = wanted
  const path = wanted.new_path ?? wanted.old_path
  if (path === undefined || head_sha !== commit.oid) return undefined
  const base = commit.parents[0] ?? emptyTreeOid
  if (base_sha !== base || start_sha !== base) return undefined
  const kind = old_line === null ? 'new' : new_line === null ? 'old' : 'context'
  for (const { change, text } of await changedFiles(repo, commit, limits)) {
    const paths = { old_path: shownPath(change.oldPath), new_path: shownPath(change.newPath) }
    if (path !== (wanted.new_path === undefined ? paths.old_path : paths.new_path)) continue
    if (wanted.old_path !== undefined && wanted.old_path !== paths.old_path) continue
    const line = linesOf(text).find(
      (each) =>
        each.kind === kind &&
        (old_line === null || each.oldPosition === old_line) &&
        (new_line === null || each.newPosition === new_line),
    )
    if (!line) continue
    return {
      position: { base_sha, start_sha, head_sha, position_type: 'text', ...paths, old_line, new_line },
      at: kind === 'context' ? undefined : { path: paths.new_path, line: line.newPosition, kind },
    }
  }
  return undefined
}
