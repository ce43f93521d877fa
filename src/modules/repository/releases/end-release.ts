import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { deleteRelease } from './queries.ts'

/** Deletes a release, which the notes of a tag are as well, unless another request was first. */
export async function endRelease(
  tx: Tx,
  by: { readonly projectId: number; readonly actorId: number },
  tag: string,
  id: number,
): Promise<void> {
  const facts = await deleteRelease(tx, id)
  if (facts) await emit(tx, { kind: 'release_deleted', ...by, payload: { tag }, facts })
}
