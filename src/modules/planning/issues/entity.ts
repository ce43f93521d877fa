import { Type } from 'typebox'
import { pureEntity } from '../../../api/pure-entity.ts'
import type { RecordView } from '../../../api/record-view.ts'
import { dateOnly, described, nullable, timestamp } from '../../../api/schema.ts'
import { type UserReferenceRow, UserReferenceSchema, userReference } from '../../accounts/index.ts'
import {
  countTasks,
  ReferencesSchema,
  references,
  TaskCompletionSchema,
  TimeStatsSchema,
  timeStats,
  type Within,
} from '../../discussion/index.ts'
import { EpicReferenceSchema, epicReference } from '../epic-links/entity.ts'
import { ShownLabelsSchema, shownLabels } from '../labels/entity.ts'
import { MilestoneSchema, milestoneRecord } from '../milestones/entity.ts'
import { type RenderedTexts, renderedFields, renderedOf, renderTexts } from '../rendered-texts/rendered.ts'
import type { IssueRecordRow } from './record-queries.ts'
import { issueStates } from './states.ts'

/** An issue as one caller sees it. */
export type IssueShown = {
  readonly issue: IssueRecordRow
  readonly within: Within
  /** Labels as records instead of titles. */
  readonly labelDetails?: boolean
  /** Title and description as HTML, too. */
  readonly renderHtml?: boolean
}

const userOrNull = (description: string) => nullable(UserReferenceSchema, { description })
const url = (description: string) => Type.String({ description })

const schema = Type.Object({
  id: Type.Integer({ description: 'ID of the issue, unique on the instance' }),
  iid: Type.Integer({ description: 'Number within the project' }),
  project_id: Type.Integer({ description: 'ID of the project' }),
  title: Type.String({ description: 'Title of the issue' }),
  description: nullable(Type.String(), { description: 'Description in Markdown; null if there is none' }),
  ...renderedFields,
  state: Type.String({ enum: [...issueStates], description: 'State of the issue' }),
  issue_type: Type.String({ enum: ['issue'], description: 'Kind of the issue; there are no others' }),
  created_at: timestamp('Time at which the issue was created'),
  updated_at: timestamp('Time of the last change'),
  closed_at: nullable(timestamp(), { description: 'Time at which it was closed; null unless it is closed' }),
  closed_by: userOrNull('User who closed it; null if it is not closed or the user was deleted'),
  labels: ShownLabelsSchema,
  milestone: nullable(MilestoneSchema, { description: 'Milestone; null if there is none' }),
  assignees: Type.Array(UserReferenceSchema, { description: 'Users it is assigned to' }),
  assignee: nullable(UserReferenceSchema, {
    description: 'First of `assignees`; null if there are none. Deprecated: use `assignees`',
  }),
  author: described(UserReferenceSchema, 'User who created the issue'),
  user_notes_count: Type.Integer({ description: 'Number of comments' }),
  merge_requests_count: Type.Integer({
    description: 'Number of merge requests that close it when they are merged, of those that the caller may read',
  }),
  upvotes: Type.Integer({ description: 'Number of `thumbsup` reactions' }),
  downvotes: Type.Integer({ description: 'Number of `thumbsdown` reactions' }),
  due_date: nullable(dateOnly(), { description: 'Day on which it is due; null if there is none' }),
  confidential: Type.Boolean({
    description: 'True if only the author, assignees and members from reporters on can read it',
  }),
  discussion_locked: nullable(Type.Boolean(), { description: 'Null until it was first set' }),
  weight: Type.Optional(nullable(Type.Integer(), { description: 'Weight; null if there is none', tier: 'starter' })),
  epic_iid: Type.Optional(
    nullable(Type.Integer(), { description: 'Number of its epic within the group', tier: 'ultimate' }),
  ),
  epic: Type.Optional(
    nullable(EpicReferenceSchema, {
      description: 'Its epic; null if there is none that the caller may read',
      tier: 'ultimate',
    }),
  ),
  web_url: url('URL of the issue page'),
  reference: Type.String({ description: 'Same as `references.short`', deprecated: true }),
  references: described(ReferencesSchema, 'How texts refer to the issue'),
  time_stats: described(TimeStatsSchema, 'Estimated and spent time'),
  has_tasks: Type.Boolean({ description: 'True if the description has task list items' }),
  task_status: Type.Optional(
    Type.String({ description: 'Progress of the tasks as text: `1 of 2 tasks completed`; absent without tasks' }),
  ),
  task_completion_status: described(TaskCompletionSchema, 'Task list items in the description'),
  moved_to_id: nullable(Type.Integer(), {
    description: 'ID of the issue that continues it; null unless it was moved, and from when it is reopened',
  }),
  subscribed: Type.Optional(Type.Boolean({ description: 'The caller is subscribed; only in the record of one issue' })),
  _links: Type.Object(
    {
      self: url('URL of the issue in the API'),
      notes: url('URL of its notes'),
      award_emoji: url('URL of its emoji reactions'),
      project: url('URL of its project'),
    },
    { title: 'IssueLinks', description: 'URLs in the API' },
  ),
})

/** What the record of an issue shows. */
type IssueInputs = { readonly issue: IssueRecordRow; readonly within: Within; readonly html?: RenderedTexts }

/** The record of an issue; without `html`, nothing is shown as HTML. */
export function issueRecord({ issue: row, within, html }: IssueInputs, view: RecordView) {
  const refer = (user: UserReferenceRow) => userReference(user, view)
  const assignees = row.assignees.map(refer)
  const names = references('Issue', row, within)
  const tasks = countTasks(row.description)
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    ...renderedOf(html),
    state: row.state as string,
    issue_type: 'issue',
    created_at: row.created_at,
    updated_at: row.updated_at,
    closed_at: row.closed_at,
    closed_by: row.closed_by && refer(row.closed_by),
    labels: shownLabels(row.labels, html?.labelDetails),
    milestone: row.milestone && milestoneRecord(row.milestone, view),
    assignees,
    assignee: assignees[0] ?? null,
    author: refer(row.author),
    user_notes_count: row.user_notes_count,
    merge_requests_count: row.merge_requests_count,
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    due_date: row.due_date,
    confidential: row.confidential,
    discussion_locked: row.discussion_locked,
    weight: row.weight,
    epic_iid: row.epic?.iid ?? null,
    epic: row.epic && epicReference(row.epic),
    web_url: `${view.site.url}/${row.full_path}/-/issues/${row.iid}`,
    reference: names.short,
    references: names,
    time_stats: timeStats(row, view),
    has_tasks: tasks.count > 0,
    ...(tasks.count > 0 && { task_status: taskStatus(tasks) }),
    task_completion_status: tasks,
    moved_to_id: row.moved_to_id,
    ...(row.subscribed !== undefined && { subscribed: row.subscribed }),
    _links: linksOf(row, view),
  }
}

/** An issue, in lists and alone. */
export const Issue = pureEntity({
  name: 'Issue',
  schema,
  async inputs(shown: readonly IssueShown[], ctx) {
    const html = await renderTexts(
      ctx,
      shown.map(({ issue: row, ...how }) => ({ row, ...how })),
    )
    return shown.map(({ issue, within }, index) => ({ issue, within, html: html[index]! }))
  },
  present: issueRecord,
})

const taskStatus = ({ count, completed_count }: ReturnType<typeof countTasks>): string =>
  `${completed_count} of ${count} ${count === 1 ? 'task' : 'tasks'} completed`

function linksOf({ project_id, iid }: IssueRecordRow, { site }: RecordView) {
  const project = `${site.url}/api/v4/projects/${project_id}`
  const self = `${project}/issues/${iid}`
  return { self, notes: `${self}/notes`, award_emoji: `${self}/award_emoji`, project }
}
