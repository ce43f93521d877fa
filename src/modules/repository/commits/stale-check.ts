import { lastCommitOfPath } from '../../../git/history/history.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { invalid } from '../../../kernel/failure.ts'
import { type FileAction, pathBefore } from './file-actions.ts'

/** The API documents name only these. */
const checked: readonly FileAction['action'][] = ['update', 'move', 'delete']

/**
 * Throws if a file's last commit differs from the one that its action names. A path without commits has none. One walk
 * of the history for each such path.
 */
export async function requireFresh(
  repo: Repository,
  from: Commit | undefined,
  actions: readonly FileAction[],
  violation: (action: FileAction) => string,
): Promise<void> {
  if (!from) return
  for (const action of actions) {
    if (!action.last_commit_id || !checked.includes(action.action)) continue
    const last = await lastCommitOfPath(repo, from.oid, pathBefore(action))
    if (last && last.oid !== action.last_commit_id) throw invalid(violation(action))
  }
}
