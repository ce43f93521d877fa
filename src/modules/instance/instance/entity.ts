import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'

/** A sentence, as answers of work in the background have it. */
/** Response to a request whose work goes on after it. */
export const accepted = { message: '202 Accepted' }

export const Message = entity({
  name: 'Message',
  schema: Type.Object({ message: Type.String({ description: 'Status in plain text, such as `202 Accepted`' }) }),
  present: (row: { message: string }) => row,
})
