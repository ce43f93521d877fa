import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'

/** Response to a successful dry run; failures answer as usual. */
export const DryRun = entity({
  name: 'DryRun',
  schema: Type.Object({ dry_run: Type.String({ description: 'success' }) }),
  present: (_: undefined) => ({ dry_run: 'success' }),
})
