import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { updateFields } from '../remotes/update-fields.ts'
import type { PullMirrorRow } from './queries.ts'

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
