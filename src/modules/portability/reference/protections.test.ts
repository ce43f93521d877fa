import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { imported, times } from './testing.ts'

const main = { name: 'main', ...times }

describe('protections of an archive of the reference product', () => {
  test.for([
    ['a user who is no member', { access_level: 40, user_id: 99 }],
    ['a group', { access_level: 40, group_id: 5 }],
    ['a deploy key', { access_level: 40, deploy_key_id: 5 }],
    ['a role that does not exist here', { access_level: 50 }],
  ] as const)('administrators alone may unprotect a branch that %s could', async ([, access], { world }) => {
    const lists = {
      push_access_levels: [access],
      merge_access_levels: [access],
      unprotect_access_levels: [access],
    }
    const get = await imported(world, { protected_branches: [{ ...main, ...lists }] })
    expect(await get('/protected_branches')).toMatchObject([
      { push_access_levels: [], merge_access_levels: [], unprotect_access_levels: [{ access_level: 60 }] },
    ])
    const { body } = (await mailsTo(world, `${get.importer.username}@example.com`)).at(-1)!
    expect(body).toContain('protected_ref_access: 3')
  })

  test('administrators alone may unprotect a branch that no one could', async ({ world }) => {
    const get = await imported(world, {
      protected_branches: [
        { ...main, push_access_levels: [{ access_level: 0 }], unprotect_access_levels: [{ access_level: 0 }] },
      ],
    })
    expect(await get('/protected_branches')).toMatchObject([
      { push_access_levels: [{ access_level: 0 }], unprotect_access_levels: [{ access_level: 60 }] },
    ])
  })

  test('approval rules are imported with the users and branches that are found', async ({ world }) => {
    const ann = await world.user()
    const user = { id: 11, username: ann.username, email: `${ann.username}@example.com` }
    const rule = { rule_type: 'regular', approvals_required: 2, ...times }
    const get = await imported(world, {
      project_members: [{ access_level: 30, user, ...times }],
      protected_branches: [main],
      approval_rules: [
        {
          ...rule,
          name: 'People',
          approval_project_rules_users: [{ user_id: 11 }, { user_id: 99 }],
          approval_project_rules_protected_branches: [{ branch_name: 'main' }],
        },
        { ...rule, name: 'Gone', approval_project_rules_users: [{ user_id: 99 }] },
        { ...rule, name: 'All', rule_type: 'any_approver', applies_to_all_protected_branches: true },
        { ...rule, name: 'Licenses', rule_type: 'report_approver' },
      ],
    })
    expect(await get('/approval_rules')).toMatchObject([
      { name: 'People', approvals_required: 2, users: [{ id: ann.id }], protected_branches: [{ name: 'main' }] },
      { name: 'Gone', approvals_required: 2, users: [], protected_branches: [] },
      { rule_type: 'any_approver', approvals_required: 2, applies_to_all_protected_branches: true },
    ])
    const { body } = (await mailsTo(world, `${get.importer.username}@example.com`)).at(-1)!
    expect(body).toContain('approval_rules: 1')
    expect(body).toContain('approval_rules_users: 2')
  })
})
