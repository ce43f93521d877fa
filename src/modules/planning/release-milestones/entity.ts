import { Type } from 'typebox'
import type { RecordView } from '../../../api/record-view.ts'
import { MilestoneSchema, milestoneRecord } from '../milestones/entity.ts'
import type { ReleaseMilestoneRow } from './queries.ts'

export const ReleaseMilestoneSchema = Type.Object(
  {
    ...MilestoneSchema.properties,
    issue_stats: Type.Object(
      {
        total: Type.Integer({ description: 'Number of issues' }),
        closed: Type.Integer({ description: 'Number of closed issues' }),
      },
      { title: 'MilestoneIssueStats', description: 'Issues of the milestone that the caller may read' },
    ),
  },
  { title: 'ReleaseMilestone' },
)

/** A milestone as releases contain it. */
export const releaseMilestoneRecord = (
  { milestone, total, closed }: ReleaseMilestoneRow,
  view: Pick<RecordView, 'site'>,
) => ({ ...milestoneRecord(milestone, view), issue_stats: { total, closed } })
