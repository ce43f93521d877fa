import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { CustomAttributeRow } from './queries.ts'

export const CustomAttribute = entity({
  name: 'CustomAttribute',
  schema: Type.Object({ key: Type.String(), value: Type.String() }),
  present: ({ key, value }: CustomAttributeRow) => ({ key, value }),
})
