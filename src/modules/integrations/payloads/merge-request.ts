import { timeStats } from '../../discussion/index.ts'
import { isDraft } from '../../review/index.ts'
import { labelsOf, PayloadProject, userOf, usersOf } from './blocks.ts'
import { actionOf, atEvent, changesBlock, changesIn, editOf, mergeParams, stateId } from './changes.ts'
import { findMergeRequestRow, type MergeRequestRow } from './queries.ts'
import { asRecorded, type PayloadCtx } from './shown.ts'
import { type Builder, idIn, type RecordedEvent, textIn } from './source.ts'

/** The `object_attributes` of a merge request, without `action`. */
export async function mergeRequestAttributes(ctx: PayloadCtx, project: PayloadProject, mr: MergeRequestRow) {
  const source =
    mr.source_project_id === project.row.id ? project : await PayloadProject.load(ctx, mr.source_project_id)
  const { human_total_time_spent, human_time_estimate } = timeStats(mr, ctx)
  return {
    assignee_id: mr.assignee_ids[0] ?? null,
    author_id: mr.author_id,
    created_at: mr.created_at,
    description: project.withAbsoluteImages(mr.description),
    head_pipeline_id: mr.head_pipeline_id,
    id: mr.id,
    iid: mr.iid,
    last_edited_at: null,
    last_edited_by_id: null,
    merge_commit_sha: mr.merge_commit_sha,
    merge_error: mr.merge_error,
    merge_params: mergeParams(mr.force_remove_source_branch),
    merge_status: mr.merge_status,
    merge_user_id: mr.merge_user_id,
    merge_when_pipeline_succeeds: mr.merge_when_pipeline_succeeds,
    milestone_id: mr.milestone_id,
    source_branch: mr.source_branch,
    source_project_id: mr.source_project_id,
    state_id: stateId(mr.state),
    target_branch: mr.target_branch,
    target_project_id: mr.project_id,
    time_estimate: mr.time_estimate,
    title: mr.title,
    updated_at: mr.updated_at,
    updated_by_id: null,
    url: `${project.webUrl}/-/merge_requests/${mr.iid}`,
    source: source?.block ?? null,
    target: project.block,
    last_commit: await project.commitBlock(mr.head),
    work_in_progress: isDraft(mr.title),
    draft: isDraft(mr.title),
    total_time_spent: mr.total_time_spent,
    human_total_time_spent,
    human_time_estimate,
    assignee_ids: mr.assignee_ids,
    reviewer_ids: mr.reviewer_ids,
    labels: await labelsOf(ctx, mr.label_ids),
    state: mr.state,
  }
}

/** A title says whether the merge request is a draft. */
function draftChange(event: RecordedEvent): { draft?: object } {
  const [previous, current] = (changesIn(event)['title'] ?? ['', '']).map((title) => isDraft(String(title)))
  return previous === current ? {} : { draft: { previous, current } }
}

export const mergeRequestPayload: Builder = async (ctx, { event }) => {
  const id = idIn(event.payload, 'merge_request_id')
  const row = await asRecorded(ctx.shown?.merge_request, 'description', () => findMergeRequestRow(ctx.db, id))
  const project = await PayloadProject.load(ctx, row?.project_id ?? null)
  if (!row || !project) return undefined
  const mr = atEvent(row, event)
  const attributes = await mergeRequestAttributes(ctx, project, mr)
  const [assignees, reviewers] = [await usersOf(ctx, mr.assignee_ids), await usersOf(ctx, mr.reviewer_ids)]
  const oldHead = textIn(event.payload, 'old_head_oid')
  return {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: await userOf(ctx, event.actor_id ?? mr.author_id),
    project: project.block,
    object_attributes: {
      ...attributes,
      ...editOf(event),
      action: actionOf(event),
      ...(oldHead !== null && { oldrev: oldHead }),
    },
    labels: attributes.labels,
    changes: { ...(await changesBlock(ctx, event)), ...draftChange(event) },
    repository: project.repositoryBlock,
    ...(assignees.length > 0 && { assignees }),
    ...(reviewers.length > 0 && { reviewers }),
  }
}
