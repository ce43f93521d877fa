import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { Applied } from './apply.ts'

/** What the quick actions of a text did, as fields of a record. */
const appliedFields = {
  commands_changes: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Attributes that quick actions changed, as an update names them',
  }),
  summary: Type.Array(Type.String(), { description: 'What each quick action did, or that it could not be applied' }),
}

/** The same fields of a record that has them only in the answer to its creation. */
export const optionalApplied = {
  commands_changes: Type.Optional(appliedFields.commands_changes),
  summary: Type.Optional(appliedFields.summary),
}

export const appliedOf = ({ changes, summary }: Applied) => ({ commands_changes: changes, summary: [...summary] })

/** The answer to a text that has quick actions only, for which no note is created. */
export const AppliedActions = entity({
  name: 'AppliedQuickActions',
  status: 202,
  schema: Type.Object(appliedFields),
  present: (applied: Applied) => appliedOf(applied),
})
