import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { timestamp } from '../../../api/schema.ts'
import type { GpgKeyRow } from './queries.ts'

export const GPGKey = entity({
  name: 'GPGKey',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the key' }),
    key: Type.String({ description: 'ASCII-armored public key' }),
    created_at: timestamp('Time at which the key was added'),
  }),
  present: ({ id, key, created_at }: GpgKeyRow) => ({ id, key, created_at }),
})
