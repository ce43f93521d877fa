import { describe, expect } from 'vitest'
import { auditOf, auditOfNoun } from '../../../../test/tables/events.ts'
import { storePushRule } from '../../../../test/tables/pushes.ts'
import { test, World } from '../../../../test/world.ts'

const names = [
  'deny_delete_tag',
  'member_check',
  'prevent_secrets',
  'commit_message_regex',
  'commit_message_negative_regex',
  'branch_name_regex',
  'author_email_regex',
  'file_name_regex',
  'max_file_size',
  'commit_committer_check',
  'reject_unsigned_commits',
]
const missing = { message: '404 Push Rule Not Found' }
const atLeastOne = { error: `${names.join(', ')} are missing, at least one parameter must be provided` }

describe('the push rule of a project', () => {
  test('an expression that cannot be used any more refuses with its name', async ({ world }) => {
    const { id } = await world.project()
    await world.root.post(`/projects/${id}/push_rule`, { commit_message_regex: '^x' })
    await storePushRule(world, id, { commit_message_regex: `^(${'x?'.repeat(100)}){900}$` })
    const actions = [{ action: 'create', file_path: 'a', content: 'a' }]
    const commit = { branch: 'main', commit_message: 'x', actions }
    expect(await world.root.post(`/projects/${id}/repository/commits`, commit)).toMatchObject({
      status: 400,
      json: { message: expect.stringMatching(/^The push rule commit_message_regex cannot be used: /) },
    })
  })

  test('is created with defaults, read, changed and deleted', async ({ world }) => {
    const mia = await world.user()
    const { id } = await world.project({ members: [[mia, 'maintainer']] })
    const at = `/projects/${id}/push_rule`
    expect(await mia.get(at)).toMatchObject({ status: 200, text: 'null' })
    const made = await mia.post(at, { commit_message_regex: '^(feat|fix): ', max_file_size: 2 })
    expect(made).toMatchObject({
      status: 201,
      json: {
        id: expect.any(Number),
        project_id: id,
        commit_message_regex: '^(feat|fix): ',
        commit_message_negative_regex: null,
        branch_name_regex: null,
        author_email_regex: null,
        file_name_regex: null,
        deny_delete_tag: false,
        member_check: false,
        prevent_secrets: false,
        max_file_size: 2,
        commit_committer_check: null,
        reject_unsigned_commits: null,
        created_at: expect.any(String),
      },
    })
    expect(await mia.get(at)).toMatchObject({ status: 200, json: made.json })
    const changed = await mia.put(at, { commit_message_regex: '', member_check: true, max_file_size: 0 })
    expect(changed).toMatchObject({
      status: 200,
      json: { ...made.json, commit_message_regex: '', member_check: true, max_file_size: 0 },
    })
    expect((await mia.put(at, { commit_message_regex: null })).json.commit_message_regex).toBe(null)
    expect(await mia.delete(at)).toMatchObject({ status: 204, text: '' })
    expect(await mia.get(at)).toMatchObject({ status: 200, text: 'null' })
    expect(await auditOfNoun(world, { noun: 'push_rule', project: id }, 'verb')).toEqual(
      ['add', 'change', 'change', 'remove'].map((verb) => ({ verb })),
    )
    expect((await auditOf(world, { type: 'Project', id }, 'author_id')).at(-1)).toEqual({ author_id: mia.id })
  })

  test('422 for a second rule, 404 where there is none, 400 without a parameter', async ({ world }) => {
    const { id } = await world.project()
    const at = `/projects/${id}/push_rule`
    expect(await world.root.put(at, { member_check: true })).toMatchObject({ status: 404, json: missing })
    expect(await world.root.delete(at)).toMatchObject({ status: 404, json: missing })
    for (const method of ['post', 'put'] as const)
      expect(await world.root[method](at, { other: 1 })).toMatchObject({ status: 400, json: atLeastOne })
    expect((await world.root.post(at, { member_check: true })).status).toBe(201)
    expect(await world.root.post(at, { member_check: true })).toMatchObject({
      status: 422,
      json: { error: 'Project push rule exists' },
    })
  })

  test('expressions must be RE2 and short, and no text breaks the check', async ({ world }) => {
    const { id } = await world.project()
    const at = `/projects/${id}/push_rule`
    expect(await world.root.post(at, { branch_name_regex: '(', file_name_regex: '(?=a)' })).toMatchObject({
      status: 400,
      json: {
        message: {
          branch_name_regex: [expect.stringMatching(/^not valid RE2 syntax: ./)],
          file_name_regex: [expect.stringMatching(/^not valid RE2 syntax: ./)],
        },
      },
    })
    const tooLong = (maximum: number) => [`is too long (maximum is ${maximum} characters)`]
    expect(
      await world.root.post(at, {
        author_email_regex: 'x'.repeat(512),
        commit_message_negative_regex: 'x'.repeat(2048),
      }),
    ).toMatchObject({
      status: 400,
      json: { message: { author_email_regex: tooLong(511), commit_message_negative_regex: tooLong(2047) } },
    })
    expect(await world.root.post(at, { commit_message_regex: '(a{1,50}){1,19}'.repeat(30) })).toMatchObject({
      status: 400,
      json: { message: { commit_message_regex: ['not valid RE2 syntax: pattern too large - compile failed'] } },
    })
    for (const max_file_size of [-1, 2 ** 31]) expect((await world.root.post(at, { max_file_size })).status).toBe(400)
    expect(
      await world.root.post(at, {
        author_email_regex: 'x'.repeat(511),
        commit_message_negative_regex: 'x'.repeat(2047),
      }),
    ).toMatchObject({ status: 201 })
  })

  test('is deleted with its project', async ({ world }) => {
    const { id } = await world.project()
    await world.root.post(`/projects/${id}/push_rule`, { member_check: true })
    expect((await world.root.delete(`/projects/${id}`)).status).toBe(202)
  })
})

describe('rules that new projects copy', () => {
  test('a new project copies the rule of the closest group, a subgroup of one without inherits', async ({ world }) => {
    const owner = await world.user()
    const outer = await world.group({ members: [[owner, 'owner']] })
    const inner = await world.group({ parent: outer })
    const before = await world.project({ group: inner })
    const at = `/groups/${outer.id}/push_rule`
    expect(await owner.get(at)).toMatchObject({ status: 404, json: missing })
    const made = await owner.post(at, { branch_name_regex: '^outer/', max_file_size: 7, commit_committer_check: true })
    expect(made).toMatchObject({ status: 201, json: { branch_name_regex: '^outer/' } })
    expect(made.json).not.toHaveProperty('project_id')
    expect(await owner.get(at)).toMatchObject({ status: 200, json: made.json })
    const changed = await owner.put(at, { deny_delete_tag: true })
    expect(changed).toMatchObject({ status: 200, json: { ...made.json, deny_delete_tag: true } })
    expect(await owner.post(at, { max_file_size: 7 })).toMatchObject({
      status: 422,
      json: { error: 'Group push rule exists' },
    })
    const ruleOf = async (id: number) => (await world.root.get(`/projects/${id}/push_rule`)).json
    const inherited = await world.project({ group: inner })
    expect(await ruleOf(inherited.id)).toMatchObject({
      project_id: inherited.id,
      branch_name_regex: '^outer/',
      max_file_size: 7,
      commit_committer_check: true,
    })
    expect(await ruleOf(before.id)).toBe(null)
    await owner.post(`/groups/${inner.id}/push_rule`, { branch_name_regex: '^inner/' })
    expect(await ruleOf((await world.project({ group: inner })).id)).toMatchObject({
      branch_name_regex: '^inner/',
      max_file_size: 0,
    })
    expect((await owner.delete(at)).status).toBe(204)
    expect(await ruleOf(inherited.id)).toMatchObject({ branch_name_regex: '^outer/' })
    expect(await ruleOf((await world.project({ group: outer })).id)).toBe(null)
  })

  test('a new project has its README although the message of that commit violates the rule of its group', async ({
    world,
  }) => {
    const group = await world.group()
    const rule = { commit_message_regex: '^fix', author_email_regex: '@corp$', branch_name_regex: '^feature/' }
    await world.root.post(`/groups/${group.id}/push_rule`, rule)
    const project = { name: 'begun', namespace_id: group.id, initialize_with_readme: true }
    const made = await world.root.post('/projects', project)
    expect(made).toMatchObject({ status: 201, json: { default_branch: 'master' } })
    const empty = await world.project({ group })
    const branch = (name: string) =>
      world.root.post(`/projects/${empty.id}/repository/branches`, { branch: name, ref: 'master' })
    expect(await branch('topic')).toMatchObject({ status: 400 })
    expect(await branch('feature/x')).toMatchObject({ status: 201 })
  })

  test('administrators set the rule that projects copy where no group has one', async () => {
    await using world = await World.start()
    const at = '/application/push_rule'
    const ann = await world.user()
    expect((await ann.get(at)).status).toBe(403)
    expect(await world.root.get(at)).toMatchObject({ status: 404, json: missing })
    expect((await world.root.post(at, { prevent_secrets: true })).status).toBe(201)
    expect(await world.root.get(at)).toMatchObject({ status: 200, json: { prevent_secrets: true } })
    expect(await world.root.post(at, { prevent_secrets: true })).toMatchObject({
      status: 422,
      json: { error: 'Instance push rule exists' },
    })
    const { json: made } = await ann.post('/projects', { name: 'mine' })
    expect((await ann.get(`/projects/${made.id}/push_rule`)).json).toMatchObject({ prevent_secrets: true })
    expect((await world.root.put(at, { max_file_size: 3 })).json).toMatchObject({
      prevent_secrets: true,
      max_file_size: 3,
    })
    expect((await world.root.delete(at)).status).toBe(204)
  })
})

test('D2-PUSH-STARTER: push rules need the plan starter, two of the checks premium', async () => {
  {
    await using world = await World.start({ STITHY_PLAN: 'free' })
    const { id } = await world.project()
    expect((await world.root.get(`/projects/${id}/push_rule`)).status).toBe(404)
  }
  await using world = await World.start({ STITHY_PLAN: 'starter' })
  const { id } = await world.project()
  const at = `/projects/${id}/push_rule`
  for (const name of ['commit_committer_check', 'reject_unsigned_commits'])
    expect(await world.root.post(at, { [name]: true })).toMatchObject({
      status: 403,
      json: { message: '403 Forbidden' },
    })
  const made = await world.root.post(at, { deny_delete_tag: true, reject_unsigned_commits: false })
  expect(made.status).toBe(201)
  expect(Object.keys(made.json)).not.toContain('commit_committer_check')
  expect(Object.keys(made.json)).not.toContain('reject_unsigned_commits')
})
