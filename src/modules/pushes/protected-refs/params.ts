import { Flag, Id, List, OneOf, Optional, Params } from '../../../api/params/types.ts'
import { levelsFor } from './levels.ts'
import type { Grant, RefAction } from './queries.ts'

/** `push_access_level` and its like; `what` describes the action. */
export const levelParam = (action: RefAction, what: string) =>
  Optional(OneOf(levelsFor(action), { levels: true, description: `Lowest access level that may ${what}` }))

const holderOf = (action: RefAction) => ({
  user_id: Optional(Id({ description: 'ID of a project member' })),
  group_id: Optional(Id({ description: 'ID of an ancestor group or of a group with which the project is shared' })),
  access_level: Optional(OneOf(levelsFor(action), { levels: true, description: 'Lowest access level that may do it' })),
})

/** `allowed_to_push` and its like. */
export const allowedParam = (action: RefAction, what: string = action) =>
  Optional(
    List(Params(holderOf(action), { exactlyOneOf: ['user_id', 'group_id', 'access_level'] }), {
      maxItems: 200,
      tier: 'starter',
      description: `Who may ${what}: one access level, user or group per entry`,
    }),
  )

/** The same for an existing rule: an entry with an `id` is changed or, with `_destroy`, removed; others are added. */
export const changedParam = (action: RefAction) =>
  Optional(
    List(
      Params(
        {
          ...holderOf(action),
          id: Optional(Id({ description: 'ID of an existing entry' })),
          _destroy: Flag({ default: false, description: 'Removes the entry' }),
        },
        { mutuallyExclusive: [['user_id', 'group_id', 'access_level']] },
      ),
      {
        maxItems: 200,
        tier: 'starter',
        description: `Who else may ${action}: one access level, user or group per entry; entries with an ID update existing ones`,
      },
    ),
  )

type Holder = { user_id?: number; group_id?: number; access_level?: number }

export const grantOf = ({ user_id = undefined, group_id = undefined, access_level = undefined }: Holder): Grant => ({
  access_level: access_level ?? null,
  user_id: user_id ?? null,
  group_id: group_id ?? null,
})

/** Combines the two forms of an action; `otherwise` if neither is used. */
export function grantsAmong(
  level: number | undefined,
  allowed: readonly Holder[] | undefined,
  otherwise: number | undefined,
): Grant[] {
  const named = [...(level === undefined ? [] : [{ access_level: level }]), ...(allowed ?? [])]
  if (named.length === 0 && otherwise !== undefined) named.push({ access_level: otherwise })
  return named.map(grantOf)
}
