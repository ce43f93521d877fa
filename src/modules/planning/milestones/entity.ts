import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { RecordView } from '../../../api/record-view.ts'
import { dateOnly, nullable, timestamp } from '../../../api/schema.ts'
import type { DatedMilestoneRow, MilestoneRow } from './queries.ts'

const fields = {
  id: Type.Integer({ description: 'ID of the milestone' }),
  iid: Type.Integer({ description: 'Number within the project or group' }),
  project_id: Type.Optional(Type.Integer({ description: 'Set for project milestones' })),
  group_id: Type.Optional(Type.Integer({ description: 'Set for group milestones' })),
  title: Type.String({ description: 'Title of the milestone' }),
  description: nullable(Type.String(), { description: 'Description; null if there is none' }),
  state: Type.String({ description: 'State of the milestone', enum: ['active', 'closed'] }),
  created_at: timestamp('Time at which the milestone was created'),
  updated_at: timestamp('Time of the last change'),
  due_date: nullable(dateOnly(), { description: 'Last day; null if there is none' }),
  start_date: nullable(dateOnly(), { description: 'First day; null if there is none' }),
  web_url: Type.String({ description: 'URL of the milestone page' }),
}

export const MilestoneSchema = Type.Object(fields, { title: 'MilestoneReference' })

/** A milestone as other records contain it. */
export const milestoneRecord = (milestone: MilestoneRow, { site }: Pick<RecordView, 'site'>) => ({
  id: milestone.id,
  iid: milestone.iid,
  ...(milestone.project_id === null ? { group_id: milestone.namespace_id! } : { project_id: milestone.project_id }),
  title: milestone.title,
  description: milestone.description,
  state: milestone.state,
  created_at: milestone.created_at,
  updated_at: milestone.updated_at,
  due_date: milestone.due_date,
  start_date: milestone.start_date,
  web_url: `${site.url}/${milestone.project_id === null ? 'groups/' : ''}${milestone.full_path}/-/milestones/${milestone.iid}`,
})

export const Milestone = entity({
  name: 'Milestone',
  schema: Type.Object({ ...fields, expired: Type.Boolean({ description: 'The due date has passed' }) }),
  present: (row: DatedMilestoneRow, ctx) => ({ ...milestoneRecord(row, ctx), expired: row.expired }),
})
