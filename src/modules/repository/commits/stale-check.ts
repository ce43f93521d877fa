import { lastCommitsOfPaths } from '../../../git/history/last-commits.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { invalid } from '../../../kernel/failure.ts'
import { type FileAction, pathBefore } from './file-actions.ts'

/** The API documents name only these. */
const checked: readonly FileAction['action'][] = ['update', 'move', 'delete']

/**
 * Throws if a file's last commit differs from the one that its action names. A path without commits has none. One walk
 * of the history for all paths.
 */
export async function requireFresh(
  repo: Repository,
  from: Commit | undefined,
  actions: readonly FileAction[],
  violation: (action: FileAction) => string,
): Promise<void> {
  const named = actions.filter(({ action, last_commit_id }) => last_commit_id && checked.includes(action))
  if (!from || named.length === 0) return
  const last = await lastCommitsOfPaths(repo, from.oid, named.map(pathBefore))
  for (const action of named) {
    const oid = last.get(pathBefore(action))
    if (oid !== undefined && oid !== action.last_commit_id) throw invalid(violation(action))
  }
}
