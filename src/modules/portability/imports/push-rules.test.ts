import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { imported, times } from '../reference/testing.ts'
import { exportOf, freshAdministrator, importOf } from '../testing.ts'

/** A project with this push rule. */
async function ruled(world: World, rule: object): Promise<number> {
  const project = await storedProject(world)
  project.repository.commit({ 'a.txt': 'a\n' })
  expect((await world.root.post(`/projects/${project.id}/push_rule`, rule)).status).toBe(201)
  return project.id
}

describe('the push rule of an imported project', () => {
  test('is that of the archive, also in a group whose projects copy a rule', async ({ world }) => {
    const id = await ruled(world, { commit_message_regex: 'JIRA', deny_delete_tag: true, max_file_size: 3 })
    const group = await world.group()
    const rule = { commit_message_regex: 'X', member_check: true }
    expect((await world.root.post(`/groups/${group.id}/push_rule`, rule)).status).toBe(201)
    const admin = await freshAdministrator(world)
    const copy = await importOf(world, await exportOf(world, id), admin, { namespace: group.full_path })
    expect((await admin.get(`/projects/${copy.id}/push_rule`)).json).toMatchObject({
      commit_message_regex: 'JIRA',
      deny_delete_tag: true,
      max_file_size: 3,
      member_check: false,
    })
  })

  test('is copied from the group if the archive has none', async ({ world }) => {
    const project = await storedProject(world)
    const group = await world.group()
    await world.root.post(`/groups/${group.id}/push_rule`, { commit_message_regex: 'X' })
    const admin = await freshAdministrator(world)
    const copy = await importOf(world, await exportOf(world, project.id), admin, { namespace: group.full_path })
    expect((await admin.get(`/projects/${copy.id}/push_rule`)).json).toMatchObject({ commit_message_regex: 'X' })
  })

  test.for([
    ['is no RE2', '(?<=x)'],
    ['is longer than the API accepts', 'x'.repeat(512)],
  ])('has no expression that %s, and counts it', async ([, expression], { world }) => {
    const rule = { deny_delete_tag: true, branch_name_regex: expression, file_name_regex: '[.]exe$', ...times }
    const get = await imported(world, { push_rule: rule })
    expect(await get('/push_rule')).toMatchObject({
      deny_delete_tag: true,
      branch_name_regex: null,
      file_name_regex: '[.]exe$',
    })
    const { body } = (await mailsTo(world, `${get.importer.username}@example.com`)).at(-1)!
    expect(body).toContain('push_rule_branch_name_regex: 1')
  })
})
