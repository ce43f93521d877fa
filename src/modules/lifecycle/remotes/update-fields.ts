import { Type } from 'typebox'
import { nullable, timestamp } from '../../../api/schema.ts'

export const updateStatuses = ['none', 'scheduled', 'started', 'finished', 'failed'] as const

/** Fields that the records of pull and push mirrors share. */
export const updateFields = {
  update_status: Type.String({
    description: 'State of the last update; `none` if there was none',
    enum: [...updateStatuses],
  }),
  last_error: nullable(Type.String(), { description: 'Why the last update failed; null if it did not' }),
  last_update_at: nullable(timestamp('End of the last update; null if there was none')),
  last_update_started_at: nullable(timestamp('Start of the last update; null if there was none')),
  last_successful_update_at: nullable(timestamp('End of the last update without errors; null if there was none')),
  url: Type.String({ description: 'URL of the remote repository, with asterisks for the credentials' }),
}
