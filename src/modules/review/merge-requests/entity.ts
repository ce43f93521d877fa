import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { pureEntity } from '../../../api/pure-entity.ts'
import type { RecordView } from '../../../api/record-view.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { type UserReferenceRow, UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { PipelineReferenceSchema, pipelineReference } from '../../ci/index.ts'
import {
  countTasks,
  ReferencesSchema,
  references,
  TaskCompletionSchema,
  TimeStatsSchema,
  timeStats,
  type Within,
} from '../../discussion/index.ts'
import {
  MilestoneSchema,
  milestoneRecord,
  type RenderedTexts,
  renderedFields,
  renderedOf,
  renderTexts,
  ShownLabelsSchema,
  shownLabels,
} from '../../planning/index.ts'
import { type HeadPipeline, headPipelines } from './head-pipelines.ts'
import { detailedMergeStatus, detailedMergeStatuses } from './mergeability.ts'
import type { MergeRequestRecordRow } from './record-queries.ts'
import { mergeRequestStates, mergeStatuses } from './states.ts'
import { isDraft } from './title.ts'

/** A merge request as one caller sees it. */
export type MergeRequestShown = {
  readonly mergeRequest: MergeRequestRecordRow
  readonly within: Within
  /** Labels as records instead of titles. */
  readonly labelDetails?: boolean
  /** Title and description as HTML, too. */
  readonly renderHtml?: boolean
  /** Only if requested. */
  readonly divergedCommits?: number
}

const simple = {
  id: Type.Integer({ description: 'ID of the merge request, unique on the instance' }),
  iid: Type.Integer({ description: 'Number within the project' }),
  project_id: Type.Integer({ description: 'ID of the target project' }),
  title: Type.String({ description: 'Title of the merge request' }),
  description: nullable(Type.String(), { description: 'Description in Markdown; null if there is none' }),
  state: Type.String({
    enum: [...mergeRequestStates],
    description: 'State; `locked` while a merge is in progress',
  }),
  created_at: timestamp('Time at which the merge request was created'),
  updated_at: timestamp('Time of the last change'),
  web_url: Type.String({ description: 'URL of the merge request page' }),
}

const simpleOf = ({ mergeRequest: row }: Pick<MergeRequestShown, 'mergeRequest'>, { site }: RecordView) => ({
  id: row.id,
  iid: row.iid,
  project_id: row.project_id,
  title: row.title,
  description: row.description,
  state: row.state as string,
  created_at: row.created_at,
  updated_at: row.updated_at,
  web_url: `${site.url}/${row.full_path}/-/merge_requests/${row.iid}`,
})

/** With view=simple. */
export const MergeRequestSimple = pureEntity({
  name: 'MergeRequestSimple',
  schema: Type.Object(simple),
  inputs: (shown: readonly MergeRequestShown[]) => shown.map(({ mergeRequest }) => ({ mergeRequest })),
  present: simpleOf,
})

const userOrNull = (description: string) => nullable(UserReferenceSchema, { description })

/** Fields of every merge request; the detail record adds more. */
export const basicFields = {
  ...simple,
  ...renderedFields,
  target_project_id: Type.Integer({ description: 'Same as `project_id`' }),
  source_project_id: nullable(Type.Integer(), { description: 'Null if the project was deleted' }),
  target_branch: Type.String({ description: 'Branch to merge into' }),
  source_branch: Type.String({ description: 'Branch to merge' }),
  author: described(UserReferenceSchema, 'User who created the merge request'),
  assignee: nullable(UserReferenceSchema, { description: 'First of `assignees`; null if there are none' }),
  assignees: Type.Array(UserReferenceSchema, { description: 'Users it is assigned to' }),
  reviewers: Type.Array(UserReferenceSchema, { description: 'Users who are asked to review it' }),
  merged_by: userOrNull('User who merged it; null if it is not merged or the user was deleted'),
  merge_user: userOrNull('Same as `merged_by`; until then the user who asked for the automatic merge, if any'),
  merged_at: nullable(timestamp(), { description: 'Time of the merge; null unless it is merged' }),
  closed_by: userOrNull('User who closed it; null if it is not closed or the user was deleted'),
  closed_at: nullable(timestamp(), { description: 'Time at which it was closed; null unless it is closed' }),
  upvotes: Type.Integer({ description: 'Number of `thumbsup` reactions' }),
  downvotes: Type.Integer({ description: 'Number of `thumbsdown` reactions' }),
  user_notes_count: Type.Integer({ description: 'Number of comments' }),
  labels: ShownLabelsSchema,
  milestone: nullable(MilestoneSchema, { description: 'Milestone; null if there is none' }),
  draft: Type.Boolean({
    description: 'True if the title starts with `Draft:`, `WIP:` or the like; drafts do not merge',
  }),
  work_in_progress: Type.Boolean({ description: 'Same as `draft`' }),
  merge_when_pipeline_succeeds: Type.Boolean({ description: 'True if it merges as soon as the pipeline succeeds' }),
  merge_status: Type.String({
    enum: [...mergeStatuses],
    description: 'Whether it can be merged; checked in the background, so ask again later',
  }),
  detailed_merge_status: Type.String({
    enum: [...detailedMergeStatuses],
    description: 'Why it does not merge now, for any user; `mergeable` if nothing prevents it',
  }),
  has_conflicts: Type.Boolean({ description: 'The branches have conflicts' }),
  blocking_discussions_resolved: Type.Boolean({ description: 'True if no unresolved discussion blocks the merge' }),
  sha: nullable(Type.String(), { description: 'Head of the source branch' }),
  merge_commit_sha: nullable(Type.String(), {
    description: 'Hash of the merge commit; null before the merge and without one',
  }),
  squash_commit_sha: nullable(Type.String(), {
    description: 'Hash of the squashed commit; null unless it was squashed',
  }),
  squash: Type.Boolean({ description: 'Squash the commits on merge' }),
  discussion_locked: nullable(Type.Boolean(), { description: 'Null until it was first set' }),
  should_remove_source_branch: nullable(Type.Boolean(), { description: 'Null until a merge sets it' }),
  force_remove_source_branch: nullable(Type.Boolean(), {
    description: 'True if the author chose to delete the source branch after the merge; null if they did not choose',
  }),
  allow_collaboration: Type.Optional(
    Type.Boolean({
      description: "True if the source branch of another project accepts pushes from the target's members",
    }),
  ),
  allow_maintainer_to_push: Type.Optional(Type.Boolean({ description: 'Same as `allow_collaboration`' })),
  reference: Type.String({ description: 'Same as `references.short`', deprecated: true }),
  references: described(ReferencesSchema, 'How texts refer to the merge request'),
  time_stats: described(TimeStatsSchema, 'Estimated and spent time'),
  task_completion_status: described(TaskCompletionSchema, 'Task list items in the description'),
  approvals_before_merge: Type.Optional(
    nullable(Type.Integer(), {
      description: 'Number of approvals that a merge requires; null for the default of the project',
      tier: 'starter',
    }),
  ),
  subscribed: Type.Boolean({ description: 'The caller is subscribed' }),
  changes_count: nullable(Type.String(), { description: 'Number of files; `1000+` if there are more than shown' }),
  pipeline: nullable(PipelineReferenceSchema, { description: 'Newest pipeline of the head' }),
  latest_build_started_at: nullable(timestamp(), { description: 'Time at which `pipeline` started; null without one' }),
  latest_build_finished_at: nullable(timestamp(), {
    description: 'Time at which `pipeline` finished; null without one',
  }),
  first_deployed_to_production_at: nullable(
    timestamp('Always null: which merge requests a deployment contains is not recorded'),
  ),
  diff_refs: nullable(
    Type.Object(
      {
        base_sha: nullable(Type.String(), { description: 'Null without a common ancestor' }),
        head_sha: Type.String({ description: 'Head of the source branch' }),
        start_sha: Type.String({ description: 'Head of the target branch when the diff was computed' }),
      },
      { title: 'DiffRefs' },
    ),
    { description: 'Null if a branch is missing' },
  ),
  diverged_commits_count: Type.Optional(
    Type.Integer({
      description: 'Number of commits of the target branch that the source branch lacks; present on request',
    }),
  ),
}

/** What the record of a merge request shows. */
export type BasicInputs = {
  readonly mergeRequest: MergeRequestRecordRow
  readonly within: Within
  /** Newest pipeline of the head; undefined without one, or if the caller may not read it. */
  readonly pipeline: HeadPipeline | undefined
  readonly divergedCommits?: number
  readonly html?: RenderedTexts
}

/** The values of `basicFields`. */
export function basicOf(inputs: BasicInputs, view: RecordView) {
  const { mergeRequest: row, within, pipeline: found, divergedCommits, html } = inputs
  const refer = (user: UserReferenceRow) => userReference(user, view)
  const assignees = row.assignees.map(refer)
  const mergeUser = row.merge_user && refer(row.merge_user)
  const names = references('MergeRequest', row, within)
  const collaboration = row.source_project_id !== row.project_id && {
    allow_collaboration: row.allow_collaboration,
    allow_maintainer_to_push: row.allow_collaboration,
  }
  return {
    ...simpleOf(inputs, view),
    ...renderedOf(html),
    target_project_id: row.project_id,
    source_project_id: row.source_project_id,
    target_branch: row.target_branch,
    source_branch: row.source_branch,
    author: refer(row.author),
    assignee: assignees[0] ?? null,
    assignees,
    reviewers: row.reviewers.map(refer),
    merged_by: row.state === 'merged' ? mergeUser : null,
    merge_user: mergeUser,
    merged_at: row.merged_at,
    closed_by: row.closed_by && refer(row.closed_by),
    closed_at: row.closed_at,
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    user_notes_count: row.user_notes_count,
    labels: shownLabels(row.labels, html?.labelDetails),
    milestone: row.milestone && milestoneRecord(row.milestone, view),
    draft: isDraft(row.title),
    work_in_progress: isDraft(row.title),
    merge_when_pipeline_succeeds: row.auto_merge,
    merge_status: row.merge_status as string,
    detailed_merge_status: detailedMergeStatus({
      ...row,
      hasCommits: row.commits > 0 && !row.lacks_branch,
      mergeStatus: row.merge_status,
      needsRebase: row.needs_rebase,
      pipeline: row.required_pipeline && (found ? row.required_pipeline : 'hidden'),
      isUnresolved: row.needs_resolution && row.unresolved,
      isApproved: row.approved || !planOffers(view.plan, 'starter'),
    }) as string,
    has_conflicts: row.merge_status === 'cannot_be_merged',
    blocking_discussions_resolved: !row.unresolved,
    sha: row.head_oid as string | null,
    merge_commit_sha: row.merge_commit_oid as string | null,
    squash_commit_sha: row.squash_commit_oid as string | null,
    squash: row.squash,
    discussion_locked: row.discussion_locked,
    should_remove_source_branch: row.should_remove_source_branch,
    force_remove_source_branch: row.force_remove_source_branch,
    ...collaboration,
    reference: names.short,
    references: names,
    time_stats: timeStats(row, view),
    task_completion_status: countTasks(row.description),
    approvals_before_merge: row.approvals_before_merge,
    subscribed: row.subscribed,
    changes_count: row.files === 0 ? null : `${row.files}${row.overflow ? '+' : ''}`,
    pipeline: found ? pipelineReference(found.pipeline, found.project, view.site) : null,
    latest_build_started_at: found?.pipeline.started_at ?? null,
    latest_build_finished_at: found?.pipeline.finished_at ?? null,
    first_deployed_to_production_at: null,
    diff_refs: diffRefs(row),
    ...(divergedCommits !== undefined && { diverged_commits_count: divergedCommits }),
  }
}

const diffRefs = ({ head_oid, start_oid, base_oid }: MergeRequestRecordRow) =>
  head_oid && start_oid
    ? { base_sha: base_oid as string | null, head_sha: head_oid as string, start_sha: start_oid as string }
    : null

/** Renders what records of merge requests show as HTML, in their order. */
export const renderMergeRequests = (ctx: Ctx, shown: readonly MergeRequestShown[]): Promise<readonly RenderedTexts[]> =>
  renderTexts(
    ctx,
    shown.map(({ mergeRequest: row, ...how }) => ({ row, ...how })),
  )

/** What every record shows of what was loaded. */
export const basicInputs = ({ mergeRequest, within, divergedCommits }: MergeRequestShown) => ({
  mergeRequest,
  within,
  ...(divergedCommits !== undefined && { divergedCommits }),
})

/** A merge request in a list. */
export const MergeRequest = pureEntity({
  name: 'MergeRequest',
  schema: Type.Object(basicFields),
  async inputs(shown: readonly MergeRequestShown[], ctx) {
    const rows = shown.map(({ mergeRequest }) => mergeRequest)
    const [pipelineOf, html] = await Promise.all([headPipelines(ctx, rows), renderMergeRequests(ctx, shown)])
    return shown.map((each, index) => ({
      ...basicInputs(each),
      pipeline: pipelineOf(each.mergeRequest),
      html: html[index]!,
    }))
  },
  present: basicOf,
})
