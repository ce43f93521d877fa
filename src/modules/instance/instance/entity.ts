import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'

/** A sentence, as answers of work in the background have it. */
export const Message = entity({
  name: 'Message',
  schema: Type.Object({ message: Type.String({ description: 'Status in plain text, such as `202 Accepted`' }) }),
  present: (row: { message: string }) => row,
})
