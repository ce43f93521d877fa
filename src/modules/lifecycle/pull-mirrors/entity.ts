import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { type PullMirrorRow, updateStatuses } from './queries.ts'

/** Fields that pull and push mirrors share. */
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

/** State of a pull mirror. */
export const PullMirror = entity({
  name: 'PullMirror',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the project' }),
    ...updateFields,
    next_update_at: nullable(
      timestamp('Time from which the next update is due; null if the mirror stopped after too many failures'),
    ),
  }),
  present: ({ project_id, shown_url, next_at, ...state }: PullMirrorRow) => ({
    id: project_id,
    ...state,
    url: shown_url,
    next_update_at: next_at,
  }),
})
