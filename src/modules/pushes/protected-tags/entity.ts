import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { AccessLevel, presentAccess } from '../protected-refs/levels.ts'
import type { ProtectedRefRow } from '../protected-refs/queries.ts'

export const ProtectedTag = entity({
  name: 'ProtectedTag',
  schema: Type.Object({
    name: Type.String({ description: '`*` matches any text' }),
    create_access_levels: Type.Array(AccessLevel, { description: 'Who may create matching tags' }),
  }),
  present: (row: ProtectedRefRow) => ({
    name: row.name,
    create_access_levels: row.access.filter(({ action }) => action === 'create').map(presentAccess),
  }),
})
