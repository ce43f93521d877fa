import { timeStats } from '../../discussion/index.ts'
import { labelsOf, PayloadProject, userOf, usersOf } from './blocks.ts'
import { actionOf, atEvent, changesBlock, editOf, stateId } from './changes.ts'
import { confidentialAmong, findIssueRow, type IssueRow } from './queries.ts'
import { asRecorded, type PayloadCtx } from './shown.ts'
import { type Builder, idIn } from './source.ts'

/** The `object_attributes` of an issue, without `action`. */
export async function issueAttributes(ctx: PayloadCtx, project: PayloadProject, issue: IssueRow) {
  const { human_total_time_spent, human_time_estimate } = timeStats(issue, ctx)
  return {
    author_id: issue.author_id,
    closed_at: issue.closed_at,
    confidential: issue.confidential,
    created_at: issue.created_at,
    description: project.withAbsoluteImages(issue.description),
    discussion_locked: issue.discussion_locked,
    due_date: issue.due_date,
    id: issue.id,
    iid: issue.iid,
    last_edited_at: null,
    last_edited_by_id: null,
    milestone_id: issue.milestone_id,
    moved_to_id: issue.moved_to_id,
    duplicated_to_id: issue.duplicated_to_id,
    project_id: issue.project_id,
    relative_position: issue.relative_position,
    state_id: stateId(issue.state),
    time_estimate: issue.time_estimate,
    title: issue.title,
    updated_at: issue.updated_at,
    updated_by_id: null,
    weight: issue.weight,
    url: `${project.webUrl}/-/issues/${issue.iid}`,
    total_time_spent: issue.total_time_spent,
    human_total_time_spent,
    human_time_estimate,
    assignee_ids: issue.assignee_ids,
    assignee_id: issue.assignee_ids[0] ?? null,
    labels: await labelsOf(ctx, issue.label_ids),
    state: issue.state,
  }
}

export const issuePayload: Builder = async (ctx, { event, trigger }) => {
  const id = idIn(event.payload, 'issue_id')
  const row = await asRecorded(ctx.shown?.issue, 'description', () => findIssueRow(ctx.db, id))
  const project = await PayloadProject.load(ctx, row?.project_id ?? null)
  if (!row || !project) return undefined
  // It became confidential after the flag was chosen.
  const isOpen = trigger === 'issues_events' && event.facts['test'] !== true
  if (isOpen && (row.confidential || (await confidentialAmong(ctx.db, [id])).has(id))) return undefined
  const issue = atEvent(row, event)
  const attributes = await issueAttributes(ctx, project, issue)
  const assignees = await usersOf(ctx, issue.assignee_ids)
  return {
    object_kind: 'issue',
    event_type: trigger === 'confidential_issues_events' ? 'confidential_issue' : 'issue',
    user: await userOf(ctx, event.actor_id ?? issue.author_id),
    project: project.block,
    object_attributes: { ...attributes, ...editOf(event), action: actionOf(event) },
    labels: attributes.labels,
    changes: await changesBlock(ctx, event),
    repository: project.repositoryBlock,
    ...(assignees.length > 0 && { assignees }),
  }
}
