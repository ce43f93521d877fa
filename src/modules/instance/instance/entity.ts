import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'

/** A sentence, as answers of work in the background have it. */
/** Response to a request whose work goes on after it. */
export const accepted = { message: '202 Accepted' }

export const Message = entity({
  name: 'Message',
  schema: Type.Object({ message: Type.String() }),
  present: (row: { message: string }) => row,
})
