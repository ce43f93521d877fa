import type { Tx } from '../../../db/db.ts'
import { json, nullable, oneOf, type RowOf } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { columnOf, isAbout, type NoteableType, tableOf } from '../../discussion/index.ts'
import { type EventTable, eventColumns, eventRow } from '../resource-events/queries.ts'

export const eventStates = ['closed', 'reopened', 'merged'] as const
type EventState = (typeof eventStates)[number]

const stateEventRow = {
  ...eventRow,
  user: nullable(json<UserReferenceRow>()),
  state: oneOf(...eventStates),
}
export type StateEventRow = RowOf<typeof stateEventRow>

export const stateEvents: EventTable<typeof stateEventRow> = {
  type: 'ResourceStateEvent',
  row: stateEventRow,
  select: (type) => sql`
    select ${eventColumns(type)}, case when u.id is not null then ${userReferenceJson('u')} end as "user", e.state
    from state_events e left join users u on u.id = e.user_id
  `,
  from: raw('from state_events e'),
  shown: (noteable) => isAbout('e', noteable),
}

const insertStateEvent = (
  tx: Tx,
  type: NoteableType,
  id: number,
  { userId, state }: { readonly userId: number | null; readonly state: EventState },
): Promise<number> =>
  tx.run(sql`
    insert into state_events (${columnOf(type)}, user_id, state)
    select m.id, u.id, ${state}
    from ${tableOf(type)} m left join users u on u.id = ${userId}
    where m.id = ${id}
  `)

/** Records the new state of an issue. */
export const recordIssueState =
  (state: EventState): Reaction<'issue_closed' | 'issue_reopened'> =>
  (tx, { payload, actorId }) =>
    insertStateEvent(tx, 'Issue', payload.issue_id, { userId: actorId, state })

/** Records the new state of an epic. */
export const recordEpicState =
  (state: EventState): Reaction<'epic_closed' | 'epic_reopened'> =>
  (tx, { payload, actorId }) =>
    insertStateEvent(tx, 'Epic', payload.epic_id, { userId: actorId, state })

/** Records the new state of a merge request. */
export const recordMergeRequestState =
  (state: EventState): Reaction<'merge_request_closed' | 'merge_request_reopened' | 'merge_request_merged'> =>
  (tx, { payload, actorId }) =>
    insertStateEvent(tx, 'MergeRequest', payload.merge_request_id, { userId: actorId, state })
