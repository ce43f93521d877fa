import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { CustomAttributeRow } from './queries.ts'

export const CustomAttribute = entity({
  name: 'CustomAttribute',
  schema: Type.Object({
    key: Type.String({ description: 'Name of the attribute' }),
    value: Type.String({ description: 'Value of the attribute' }),
  }),
  present: ({ key, value }: CustomAttributeRow) => ({ key, value }),
})
