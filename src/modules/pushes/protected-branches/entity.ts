import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { AccessLevel, presentAccess } from '../protected-refs/levels.ts'
import type { ProtectedRefRow, RefAction } from '../protected-refs/queries.ts'

export const ProtectedBranch = entity({
  name: 'ProtectedBranch',
  schema: Type.Object({
    id: Type.Integer(),
    name: Type.String({ description: '`*` stands for any text' }),
    push_access_levels: Type.Array(AccessLevel),
    merge_access_levels: Type.Array(AccessLevel),
    unprotect_access_levels: Type.Optional(
      Type.Array(AccessLevel, { tier: 'starter', description: 'Maintainers, when there are none' }),
    ),
    allow_force_push: Type.Boolean({ description: 'Who may push may also lose commits' }),
    code_owner_approval_required: Type.Optional(
      Type.Boolean({ tier: 'premium', description: 'Files with owners change by merge requests only' }),
    ),
  }),
  present(row: ProtectedRefRow) {
    const levelsOf = (action: RefAction) => row.access.filter((each) => each.action === action).map(presentAccess)
    return {
      id: row.id,
      name: row.name,
      push_access_levels: levelsOf('push'),
      merge_access_levels: levelsOf('merge'),
      unprotect_access_levels: levelsOf('unprotect'),
      allow_force_push: row.allow_force_push,
      code_owner_approval_required: row.code_owner_approval_required,
    }
  },
})
