import type { Tx } from '../../db/db.ts'
import { newDiscussionId } from '../discussions/discussion-id.ts'
import { insertNote } from './queries.ts'

/** A merge request as notes name it. */
export type Noteable = { readonly id: number; readonly project_id: number }

/** Tells beside what people say what somebody did: `closed`, `changed title from **a** to **b**`. */
export async function addSystemNote(
  tx: Tx,
  { id, project_id }: Noteable,
  authorId: number,
  body: string,
): Promise<void> {
  await insertNote(tx, {
    projectId: project_id,
    mergeRequestId: id,
    authorId,
    discussionId: newDiscussionId(),
    system: true,
    body,
  })
}
