import { Type } from 'typebox'
import { accessLevel, nullable } from '../../../api/schema.ts'
import type { AccessRow, RefAction } from './queries.ts'

/** Numbers of the roles in a protection rule, in the API and the database. */
export const accessLevels = { noOne: 0, developers: 30, maintainers: 40, administrators: 60 } as const

const descriptions: Readonly<Record<number, string>> = {
  0: 'No one',
  30: 'Developers + Maintainers',
  40: 'Maintainers',
  60: 'Instance admins',
}

/** Levels that an action can have. An action that no one has is refused for all, but administrators can always unprotect a ref. */
export const levelsFor = (action: RefAction): number[] =>
  Object.values(accessLevels).filter((level) => action !== 'unprotect' || level !== accessLevels.noOne)

/** One entry of `push_access_levels` and similar lists. */
export const AccessLevel = Type.Object(
  {
    id: Type.Integer({ description: 'ID to update or remove it' }),
    access_level: nullable(
      accessLevel('Lowest access level that has access, null for a user or group', Object.values(accessLevels)),
    ),
    access_level_description: Type.String({ description: 'Access level in words, or the name of the user or group' }),
    user_id: nullable(Type.Integer(), { description: 'ID of the user who has access; null for a level or group' }),
    group_id: nullable(Type.Integer(), { description: 'ID of the group that has access; null for a level or user' }),
  },
  { title: 'ProtectedRefAccess' },
)

export const presentAccess = ({ id, access_level, user_id, group_id, holder }: AccessRow) => ({
  id,
  access_level,
  access_level_description: access_level === null ? (holder ?? '') : (descriptions[access_level] ?? ''),
  user_id,
  group_id,
})
