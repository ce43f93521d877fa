import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'

/** Response to a request that continues in the background. */
export const accepted = { message: '202 Accepted' }

export const Message = entity({
  name: 'Message',
  schema: Type.Object({ message: Type.String({ description: 'Status in plain text, such as `202 Accepted`' }) }),
  present: (row: { message: string }) => row,
})
