import type { Tx } from '../../../db/db.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { mergeAwaitedLater } from '../merging/auto-merge-due.ts'
import { hasUnresolved } from './queries.ts'

/**
 * Lets a merge request be merged that only waited for the last discussion to be resolved; tells whether that was it. The merge
 * request is held.
 */
export async function mergeIfSettled(
  tx: Tx,
  { id, source_project_id, head_oid }: MergeRequestSubject,
): Promise<boolean> {
  if (await hasUnresolved(tx, id)) return false
  if (source_project_id !== null && head_oid)
    await mergeAwaitedLater(tx, { project_id: source_project_id, sha: head_oid })
  return true
}
