import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import { allowsNow } from '../../../api/allows-now.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { forbidden, rowNotFound } from '../../../kernel/failure.ts'
import {
  assignableAmong,
  assignment,
  cleanTitle,
  finishTodos,
  replaceAssigned,
  replacementAmong,
} from '../../discussion/index.ts'
import { holdPlace } from '../../groups/index.ts'
import { lockState } from '../../projects/index.ts'
import { changesOf } from '../changes/attributes.ts'
import { peopleAfter } from '../changes/people.ts'
import { recordEdit } from '../changes/record.ts'
import { changeEpicOfIssue, chosenEpic } from '../epic-links/service.ts'
import { editLabels, type LabelEdit } from '../labels/assign.ts'
import { usableMilestone } from '../milestones/service.ts'
import { notesOf } from './change-notes.ts'
import { type IssueValues, saveClosed, saveIssueValues, saveReopened } from './edit-queries.ts'
import { type IssueChangeFacts, readIssueFacts } from './event-queries.ts'
import { emitIssue } from './events.ts'
import { asNoteable } from './noteable.ts'
import { type LockedIssue, lockIssue, touchIssue } from './queries.ts'
import { requireTexts, setsAny } from './service.ts'
import { type IssueSubject, issue } from './subject.ts'

/** Absent fields stay unchanged, and so do the assignees if none of those given can be assigned; empty lists and null clear. */
export type IssueEdit = LabelEdit & {
  readonly title?: string
  readonly description?: string | null
  readonly confidential?: boolean | null
  readonly state_event?: 'close' | 'reopen'
  readonly assignee_ids?: readonly number[]
  /** Added to the assignees at the time of the change, and removed from them. */
  readonly add_assignee_ids?: readonly number[]
  readonly remove_assignee_ids?: readonly number[]
  readonly milestone_id?: number | null
  /** `YYYY-MM-DD` */
  readonly due_date?: string | null
  readonly weight?: number | null
  readonly discussion_locked?: boolean | null
  /** The epic by id, or by number in the group of the project. */
  readonly epic_id?: number | null
  readonly epic_iid?: number | null
  /** Ignored unless the caller may set them. */
  readonly created_at?: Date
  readonly updated_at?: Date
}

/** What is computed before the issue is locked. */
type Prepared = {
  readonly assignees: readonly number[] | undefined
  readonly addedAssignees: readonly number[]
  readonly milestoneId: number | null | undefined
  readonly epicId: number | null | undefined
}

const attributes = [
  'title',
  'description',
  'state',
  'confidential',
  'assignee_ids',
  'labels',
  'milestone_id',
  'due_date',
  'weight',
  'discussion_locked',
  'epic_id',
] as const satisfies readonly (keyof IssueChangeFacts)[]

/**
 * Updates an issue. Assignees, labels, milestone, due date, weight, epic and lock require the ability `admin_issue` and are ignored
 * otherwise, as are times without `date_note`. `updated_at` is also the time of the notes and label events that follow from the
 * edit. A state event that does not fit the state is ignored, and so is reopening while the discussion is locked. Unchanged values
 * are not written.
 */
export async function editIssue(ctx: Ctx, subject: IssueSubject, given: IssueEdit): Promise<void> {
  const retitled = given.title === undefined ? given : { ...given, title: cleanTitle(given.title) }
  requireTexts(retitled)
  const may = (ability: keyof typeof issuePolicy) => allows(issuePolicy[ability], ctx.actor, subject.facts)
  const edit = {
    ...retitled,
    ...(!may('admin_issue') && unadministered),
    ...(!may('date_note') && { created_at: undefined, updated_at: undefined }),
  }
  const epicId = await chosenEpic(ctx, subject.project, edit)
  await ctx.transaction(async (tx) => {
    if (epicId || edit.labels || edit.add_labels || edit.milestone_id)
      await holdPlace(tx, { of: 'project', id: subject.project_id })
    // Before the issue, as a change of visibility locks both: its trigger copies that to the issue. Triggers lock it for both changes.
    const { confidential, state_event } = edit
    if (state_event || (confidential != null && confidential !== subject.confidential))
      await lockState(tx, subject.project_id)
    await apply(ctx, tx, subject, edit, {
      assignees: await replacementAmong(tx, ctx, 'Issue', subject.project_id, edit.assignee_ids),
      addedAssignees: await assignableAmong(tx, ctx, 'Issue', subject.project_id, edit.add_assignee_ids),
      milestoneId: await usableMilestone(tx, subject.project_id, edit.milestone_id),
      epicId,
    })
  })
}

/** What a caller cannot change who may not administer issues. */
const unadministered = {
  assignee_ids: undefined,
  add_assignee_ids: undefined,
  remove_assignee_ids: undefined,
  labels: undefined,
  add_labels: undefined,
  remove_labels: undefined,
  milestone_id: undefined,
  due_date: undefined,
  weight: undefined,
  discussion_locked: undefined,
  epic_id: undefined,
  epic_iid: undefined,
} as const

type Allowed = { readonly [K in keyof IssueEdit]: IssueEdit[K] | undefined }

/** Writes the changed values and their consequences. */
async function apply(ctx: Ctx, tx: Tx, subject: IssueSubject, edit: Allowed, prepared: Prepared): Promise<void> {
  const { id } = subject
  const row = await lockIssue(tx, id)
  if (!row) throw rowNotFound()
  const path = { id: String(row.project_id), issue_iid: row.iid }
  const needed = [
    setsAny(edit, unadministered) ? ('admin_issue' as const) : ('update_issue' as const),
    ...(edit.created_at || edit.updated_at ? ['date_note' as const] : []),
  ]
  if (tx.requirePermission)
    for (const ability of needed) if (!(await allowsNow(issue, ability, path, ctx, tx))) throw forbidden()
  const reopens =
    edit.state_event === 'reopen' && row.state === 'closed' && (await allowsNow(issue, 'reopen_issue', path, ctx, tx))
  const actorId = ctx.actor!.id
  const at = edit.updated_at
  const noteable = asNoteable(row)
  const before = await readIssueFacts(tx, id)
  await saveIssueValues(tx, id, valuesOf(row, edit, prepared))
  const assignees = peopleAfter(ctx, before.assignee_ids, {
    replaced: prepared.assignees,
    added: prepared.addedAssignees,
    removed: edit.remove_assignee_ids,
  })
  const assigned = assignees && (await replaceAssigned(tx, 'issue_assignees', noteable, assignees))
  await editLabels(tx, ctx, noteable, before.labels, edit, at)
  await changeState(tx, row, edit, reopens, actorId)
  if (prepared.epicId !== undefined) await changeEpicOfIssue(tx, ctx, subject, prepared.epicId)
  const now = await readIssueFacts(tx, id)
  const changes = changesOf(attributes, before, now)
  const isChanged = Object.keys(changes).length > 0
  if (!isChanged && !at && !edit.created_at) return
  await touchIssue(tx, id, at)
  if (!isChanged) return
  await recordEdit(tx, {
    noteable,
    actorId,
    now,
    changes,
    notes: await notesOf(tx, before, now),
    at,
    todos: (assigned?.added ?? []).map(assignment(actorId)),
    emit: (verb, changed) => emitIssue(tx, id, { kind: `issue_${verb}`, actorId, changes: changed }),
  })
}

const valuesOf = (row: LockedIssue, edit: Allowed, { milestoneId }: Prepared): IssueValues => ({
  title: edit.title ?? row.title,
  description: edit.description === undefined ? row.description : edit.description,
  confidential: edit.confidential === null || edit.confidential === row.confidential ? undefined : edit.confidential,
  discussionLocked: edit.discussion_locked === undefined ? row.discussion_locked : edit.discussion_locked,
  milestoneId: milestoneId === undefined ? row.milestone_id : milestoneId,
  dueDate: edit.due_date === undefined ? row.due_date : edit.due_date,
  weight: edit.weight === undefined ? row.weight : edit.weight,
  createdAt: edit.created_at,
})

async function changeState(
  tx: Tx,
  row: LockedIssue,
  { state_event, updated_at }: Allowed,
  reopens: boolean,
  actorId: number,
): Promise<void> {
  if (state_event === 'close' && row.state === 'opened') {
    await saveClosed(tx, row.id, actorId, updated_at)
    await finishTodos(tx, actorId, asNoteable(row))
  }
  if (reopens) await saveReopened(tx, row.id)
}
