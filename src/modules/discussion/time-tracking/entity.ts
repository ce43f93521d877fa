import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { RecordView } from '../../../api/record-view.ts'
import { nullable } from '../../../api/schema.ts'
import { formatDuration } from './duration.ts'
import type { TimeRow } from './queries.ts'

export const TimeStatsSchema = Type.Object(
  {
    time_estimate: Type.Integer({ description: 'Estimated time in seconds; 0 without an estimate' }),
    total_time_spent: Type.Integer({ description: 'Spent time in seconds' }),
    human_time_estimate: nullable(Type.String({ description: 'Duration such as `1w 2d`; null without an estimate' })),
    human_total_time_spent: nullable(Type.String(), {
      description: 'Duration such as `1w 2d`; null without spent time',
    }),
  },
  { title: 'TimeStats' },
)

/** Estimated and spent time, as other records contain it. */
export const timeStats = (
  { time_estimate, total_time_spent }: TimeRow,
  { settings }: Pick<RecordView, 'settings'>,
) => ({
  time_estimate,
  total_time_spent,
  human_time_estimate: formatDuration(time_estimate, settings.time_tracking_limit_to_hours),
  human_total_time_spent: formatDuration(total_time_spent, settings.time_tracking_limit_to_hours),
})

export const TimeStats = entity({ name: 'TimeStats', schema: TimeStatsSchema, present: timeStats })
