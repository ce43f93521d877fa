import type { Tx } from '../../../db/db.ts'
import type { NewEvent } from '../../../events/catalogue.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { enqueueEach } from '../../../jobs/job.ts'
import { queues } from '../../../jobs/reaction.ts'
import type { PlannedType } from '../noteables/kinds.ts'
import type { Happening } from './happenings.ts'
import { type HappeningInput, happeningOf, mailHappeningJob } from './jobs.ts'

/** Mails that an issue was closed or moved, or is open again. */
export const mailIssueState = (happening: 'closed' | 'reopened'): Reaction<'issue_closed' | 'issue_reopened'> =>
  queues(mailHappeningJob, ({ payload: { issue_id, changes }, actorId }) =>
    happeningOf('Issue', issue_id, isMove(changes) ? 'moved' : happening, actorId),
  )

/** Mails that an epic was closed, or is open again. */
export const mailEpicState = (happening: 'closed' | 'reopened'): Reaction<'epic_closed' | 'epic_reopened'> =>
  queues(mailHappeningJob, ({ payload, actorId }) => happeningOf('Epic', payload.epic_id, happening, actorId))

/** Mails that a merge request was closed or merged, or is open again. */
export const mailMergeRequestState = (
  happening: 'closed' | 'reopened' | 'merged',
): Reaction<'merge_request_closed' | 'merge_request_reopened' | 'merge_request_merged'> =>
  queues(mailHappeningJob, ({ payload, actorId }) =>
    happeningOf('MergeRequest', payload.merge_request_id, happening, actorId),
  )

/** Mails new assignees and labels of an issue, and that a closed one was moved. */
export const mailUpdatedIssue: Reaction<'issue_updated'> = (tx, event) => {
  const { issue_id, changes } = event.payload
  return mailChanges(
    tx,
    event,
    'Issue',
    issue_id,
    isMove(changes) ? [happeningOf('Issue', issue_id, 'moved', event.actorId)] : [],
  )
}

/** Mails new labels of an epic. */
export const mailUpdatedEpic: Reaction<'epic_updated'> = (tx, event) =>
  mailChanges(tx, event, 'Epic', event.payload.epic_id)

/** Mails new commits, assignees, reviewers and labels of a merge request, and that it is to be merged when its pipeline succeeds. */
export const mailUpdatedMergeRequest: Reaction<'merge_request_updated'> = (tx, event) => {
  const { merge_request_id: id, changes, old_head_oid } = event.payload
  const happened = (happening: Happening) => happeningOf('MergeRequest', id, happening, event.actorId)
  return mailChanges(tx, event, 'MergeRequest', id, [
    ...(old_head_oid ? [happened('pushed')] : []),
    ...(changes?.['merge_when_pipeline_succeeds']?.[1] === true ? [happened('auto_merge_enabled')] : []),
  ])
}

/** Whether an issue was moved. Reopening it ends the move. */
const isMove = (changes: Changes): boolean => (changes?.['moved_to_id']?.[1] ?? null) !== null

type Changes = NewEvent<'issue_updated'>['payload']['changes']

type Updated = Pick<NewEvent<'issue_updated'>, 'actorId'> & {
  readonly payload: Pick<NewEvent<'issue_updated'>['payload'], 'changes'>
}

async function mailChanges(
  tx: Tx,
  { payload: { changes }, actorId }: Updated,
  type: PlannedType,
  id: number,
  others: readonly HappeningInput[] = [],
): Promise<void> {
  const all = [...others]
  for (const [attribute, happening] of [
    ['assignee_ids', 'assignees_changed'],
    ['reviewer_ids', 'reviewers_changed'],
    ['labels', 'labels_added'],
  ] as const) {
    const [before, now] = (changes?.[attribute] ?? [[], []]).map(idsIn) as [number[], number[]]
    const [added, removed] = [without(now, before), without(before, now)]
    const isMailed = added.length > 0 || (attribute !== 'labels' && removed.length > 0)
    if (isMailed) all.push(happeningOf(type, id, happening, actorId, { added, removed }))
  }
  if (all.length > 0) await enqueueEach(tx, mailHappeningJob, all)
}

/** The ids of a list of ids or of rows. */
const idsIn = (value: unknown): number[] =>
  Array.isArray(value) ? value.map((each): number => (typeof each === 'number' ? each : each.id)) : []

const without = (ids: readonly number[], others: readonly number[]): number[] =>
  ids.filter((id) => !others.includes(id))
