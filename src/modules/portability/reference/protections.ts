import { accessLevels } from '../../pushes/index.ts'
import type { Converter } from './converter.ts'
import type { ReferenceTree } from './tree.ts'
import { listIn, type Nested, pick, timesOf } from './values.ts'

/** Actions by the names of the lists that have the access to them. */
const actions = {
  branch: { push_access_levels: 'push', merge_access_levels: 'merge', unprotect_access_levels: 'unprotect' },
  tag: { create_access_levels: 'create' },
} as const

const isRole = (level: unknown): boolean => Object.values<unknown>(accessLevels).includes(level)

/**
 * Adds a protected branch or tag. Access of users who are no members, of deploy keys and of roles that do not exist here is that of a
 * group: the import leaves it out, and opens no protection because of that. Returns the line.
 */
async function addProtection(to: Converter, kind: 'branch' | 'tag', one: Nested): Promise<number | undefined> {
  const line = await to.add('protected_refs', {
    kind,
    name: one['name'],
    ...(kind === 'branch' && pick(one, 'allow_force_push', 'code_owner_approval_required')),
    ...timesOf(one),
  })
  if (line === undefined) return undefined
  for (const [name, action] of Object.entries(actions[kind]))
    for (const access of listIn(one, name)) {
      const user = to.usernames.get(access['user_id'])
      const others = access['user_id'] ?? access['group_id'] ?? access['deploy_key_id'] ?? null
      const level = user === undefined && others === null ? access['access_level'] : undefined
      await to.add('protected_ref_access', {
        protected_ref: line,
        action,
        ...(user !== undefined ? { user } : isRole(level) ? { access_level: level } : { of_group: true }),
      })
    }
  return line
}

/** Adds the protected branches and tags, and the approval rules, which refer to protected branches. */
export async function addProtections(to: Converter, tree: ReferenceTree): Promise<void> {
  const branches = new Map<unknown, number>()
  for await (const one of tree.of('protected_branches')) {
    const line = await addProtection(to, 'branch', one)
    if (line !== undefined) branches.set(one['name'], line)
  }
  for await (const one of tree.of('protected_tags')) await addProtection(to, 'tag', one)
  for await (const one of tree.of('approval_rules')) await addApprovalRule(to, one, branches)
}

/** Adds an approval rule. It requires as many approvals as before, of the users who are members. */
async function addApprovalRule(to: Converter, one: Nested, branches: ReadonlyMap<unknown, number>): Promise<void> {
  const rule = await to.add('approval_rules', {
    ...pick(one, 'name', 'rule_type', 'approvals_required', 'applies_to_all_protected_branches'),
    created_at: timesOf(one).created_at ?? new Date().toISOString(),
  })
  if (rule === undefined) return
  for (const { user_id: id } of listIn(one, 'approval_project_rules_users')) {
    const user = to.usernames.get(id)
    if (user === undefined) to.leaveOut('approval_rules_users')
    else await to.add('approval_rules_users', { rule, user })
  }
  for (const { branch_name: name } of listIn(one, 'approval_project_rules_protected_branches')) {
    const branch = branches.get(name)
    if (branch === undefined) to.leaveOut('approval_rule_branches')
    else await to.add('approval_rule_branches', { rule, protected_ref: branch })
  }
}
