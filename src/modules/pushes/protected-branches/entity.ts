import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { AccessLevel, presentAccess } from '../protected-refs/levels.ts'
import type { ProtectedRefRow, RefAction } from '../protected-refs/queries.ts'

export const ProtectedBranch = entity({
  name: 'ProtectedBranch',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the protection' }),
    name: Type.String({ description: '`*` matches any text' }),
    push_access_levels: Type.Array(AccessLevel, { description: 'Who may push' }),
    merge_access_levels: Type.Array(AccessLevel, { description: 'Who may merge' }),
    unprotect_access_levels: Type.Optional(
      Type.Array(AccessLevel, { tier: 'starter', description: 'Defaults to maintainers if empty' }),
    ),
    allow_force_push: Type.Boolean({ description: 'Users who may push may also force-push' }),
    code_owner_approval_required: Type.Optional(
      Type.Boolean({ tier: 'premium', description: 'Changes of files with code owners require a merge request' }),
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
