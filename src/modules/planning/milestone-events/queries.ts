import type { Tx } from '../../../db/db.ts'
import { json, nullable, oneOf, type RowOf } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { columnOf, isAbout, type NoteableType, tableOf } from '../../discussion/index.ts'
import { reachingHolder } from '../../groups/index.ts'
import type { AttributeChanges } from '../changes/attributes.ts'
import { type MilestoneRow, milestoneJson } from '../milestones/queries.ts'
import { type EventTable, eventColumns, eventRow } from '../resource-events/queries.ts'

const milestoneEventRow = {
  ...eventRow,
  user: nullable(json<UserReferenceRow>()),
  /** Null if it is deleted. */
  milestone: nullable(json<MilestoneRow>()),
  action: oneOf('add', 'remove'),
}
export type MilestoneEventRow = RowOf<typeof milestoneEventRow>

export const milestoneEvents: EventTable<typeof milestoneEventRow> = {
  type: 'ResourceMilestoneEvent',
  row: milestoneEventRow,
  select: (type) => sql`
    select ${eventColumns(type)}, case when u.id is not null then ${userReferenceJson('u')} end as "user",
      ${milestoneJson('ms')} as milestone, e.action
    from milestone_events e left join users u on u.id = e.user_id left join milestones ms on ms.id = e.milestone_id
  `,
  from: raw('from milestone_events e left join milestones ms on ms.id = e.milestone_id'),
  // Excludes milestones that the project can no longer use, because it moved.
  shown: (noteable) => sql`${isAbout('e', noteable)} and (ms.id is null or ${reachingHolder('ms', noteable.holder)})`,
}

/** Records a changed milestone: the new one is added, or the old one removed if there is none. */
async function recordChange(
  tx: Tx,
  type: NoteableType,
  id: number,
  userId: number | null,
  changes: AttributeChanges | undefined,
): Promise<void> {
  const change = changes?.['milestone_id'] as readonly [before: number | null, now: number | null] | undefined
  if (!change) return
  const [before, now] = change
  await tx.run(sql`
    insert into milestone_events (${columnOf(type)}, milestone_id, user_id, action)
    select m.id, ms.id, u.id, ${now === null ? 'remove' : 'add'}
    from ${tableOf(type)} m left join milestones ms on ms.id = ${now ?? before} left join users u on u.id = ${userId}
    where m.id = ${id}
  `)
}

/** Records the milestone of an issue if it changes. */
export const recordIssueMilestone: Reaction<'issue_opened' | 'issue_updated'> = (tx, { payload, actorId }) =>
  recordChange(tx, 'Issue', payload.issue_id, actorId, payload.changes)

/** Records the milestone of a merge request if it changes. */
export const recordMergeRequestMilestone: Reaction<'merge_request_opened' | 'merge_request_updated'> = (
  tx,
  { payload, actorId },
) => recordChange(tx, 'MergeRequest', payload.merge_request_id, actorId, payload.changes)
