import type { Tx } from '../../db/db.ts'
import { emit, type FeedAction } from '../../events/log.ts'
import type { Oid } from '../../git/oid.ts'
import { addSystemNote } from '../notes/service.ts'
import { finishTodos } from '../todos/service.ts'
import type { MergingRow } from './queries.ts'

/** What every event of a merge request says of it. */
const factsOf = (row: MergingRow) => ({
  merge_request_id: row.id,
  iid: row.iid,
  title: row.title,
  author_id: row.author_id,
  source_project_id: row.source_project_id,
  source_branch: row.source_branch,
  target_project_id: row.project_id,
  target_branch: row.target_branch,
})

type Ending = { readonly kind: string; readonly action: FeedAction; readonly note: string }

/** Tells how it ended: to the log, to people, and beside what they said. Whoever did it has nothing more to do about it. */
async function tellEnd(
  tx: Tx,
  row: MergingRow,
  actorId: number | null,
  { kind, action, note }: Ending,
  facts: Readonly<Record<string, unknown>>,
): Promise<void> {
  await emit(tx, {
    kind,
    projectId: row.project_id,
    actorId,
    payload: { ...factsOf(row), ...facts },
    feed: [{ action, target: { type: 'MergeRequest', id: row.id, iid: row.iid, title: row.title } }],
  })
  await addSystemNote(tx, row, actorId ?? row.author_id, note)
  if (actorId !== null) await finishTodos(tx, actorId, row.id)
}

export const tellMerged = (
  tx: Tx,
  row: MergingRow,
  actorId: number | null,
  commits: { readonly mergeCommit: Oid | null; readonly squashCommit: Oid | null },
): Promise<void> =>
  tellEnd(
    tx,
    row,
    actorId,
    { kind: 'merge_request_merged', action: 'merged', note: 'merged' },
    { state: 'merged', merge_commit_oid: commits.mergeCommit, squash_commit_oid: commits.squashCommit },
  )

export const tellClosed = (tx: Tx, row: MergingRow, actorId: number | null): Promise<void> =>
  tellEnd(tx, row, actorId, { kind: 'merge_request_closed', action: 'closed', note: 'closed' }, { state: 'closed' })

/** An attribute before and after. */
export type Changes = Readonly<Record<string, readonly [before: unknown, after: unknown]>>

/** Tells of a change; `oldHead` is where the source branch was when that is what moved. */
export const tellUpdated = (
  tx: Tx,
  row: MergingRow,
  actorId: number | null,
  changes: Changes,
  oldHead?: Oid | null,
): Promise<void> =>
  emit(tx, {
    kind: 'merge_request_updated',
    projectId: row.project_id,
    actorId,
    payload: { ...factsOf(row), state: row.state, changes, ...(oldHead && { oldrev: oldHead }) },
  })
