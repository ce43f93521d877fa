import type { Converter } from './converter.ts'
import { listIn, type Nested, pick, timesOf } from './values.ts'

/** Actions by the names of the lists that have the access to them. */
const actions = {
  branch: { push_access_levels: 'push', merge_access_levels: 'merge', unprotect_access_levels: 'unprotect' },
  tag: { create_access_levels: 'create' },
} as const

/** Adds a protected branch or tag. Access of users who are no members, of groups and of deploy keys is left out. */
export async function addProtection(to: Converter, kind: 'branch' | 'tag', one: Nested): Promise<void> {
  const line = await to.add('protected_refs', {
    kind,
    name: one['name'],
    ...(kind === 'branch' && pick(one, 'allow_force_push', 'code_owner_approval_required')),
    ...timesOf(one),
  })
  if (line === undefined) return
  for (const [name, action] of Object.entries(actions[kind]))
    for (const access of listIn(one, name)) {
      const user = access['user_id'] === null ? undefined : to.usernames.get(access['user_id'])
      const others = access['user_id'] ?? access['group_id'] ?? access['deploy_key_id'] ?? null
      const isOfOther = user === undefined && others !== null
      if (isOfOther) to.leaveOut('protected_ref_access')
      else
        await to.add('protected_ref_access', {
          protected_ref: line,
          action,
          ...(user === undefined ? { access_level: access['access_level'] } : { user }),
        })
    }
}
