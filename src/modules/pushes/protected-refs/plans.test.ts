import { expect } from 'vitest'
import { codeOwnerRules } from '../../../../test/tables/pushes.ts'
import { test, World } from '../../../../test/world.ts'

test('on the free plan protected branches have access levels only', async () => {
  await using world = await World.start({ STITHY_PLAN: 'free' })
  const { id } = await world.project()
  const made = await world.root.post(`/projects/${id}/protected_branches`, {
    name: 'main',
    push_access_level: 30,
    // Not offered on this plan, so the parameter is ignored.
    allowed_to_push: [{ user_id: 999_999 }],
    unprotect_access_level: 60,
    code_owner_approval_required: true,
  })
  expect(made.status).toBe(201)
  expect(Object.keys(made.json)).toEqual([
    'id',
    'name',
    'push_access_levels',
    'merge_access_levels',
    'allow_force_push',
  ])
  expect(made.json.push_access_levels).toMatchObject([{ access_level: 30 }])
  expect(await codeOwnerRules(world)).toEqual([{ required: false }])
})
