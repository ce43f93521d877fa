import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'

/** The answer to what was only tried; a failure answers as it would otherwise. */
export const DryRun = entity({
  name: 'DryRun',
  schema: Type.Object({ dry_run: Type.String({ enum: ['success'], description: 'The commit could be created' }) }),
  present: (_: undefined) => ({ dry_run: 'success' }),
})
