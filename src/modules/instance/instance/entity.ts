import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'

/** A sentence, as answers of work in the background have it. */
export const Message = entity({
  name: 'Message',
  schema: Type.Object({ message: Type.String() }),
  present: (row: { message: string }) => row,
})
