import { randomBytes } from 'node:crypto'
import { describe, expect } from 'vitest'
import { auditOf } from '../../../../test/tables/events.ts'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { test, unique, World } from '../../../../test/world.ts'
import { lockAccess, lockAccessForNew } from '../../namespaces/index.ts'

const named = (more: object = {}) => {
  const path = unique('made')
  return { name: path, path, ...more }
}

const refusedWith = (text: string) => ({ status: 400, json: { message: `Failed to save group {${text}}` } })

describe('POST /groups', () => {
  test('401 for a group of a user who is deleted while its creation waits for a lock', async ({ world }) => {
    const ann = await world.user()
    const sent = named()
    const answers = await world.db.transaction(async (tx) => {
      await lockAccess(tx)
      const deleted = world.root.delete(`/users/${ann.id}`)
      await expect.poll(() => waitingFor(world, 'advisory lock')).toHaveLength(1)
      const made = ann.post('/groups', sent)
      await expect.poll(() => waitingFor(world, 'advisory lock')).toHaveLength(2)
      return { deleted, made }
    })
    expect((await answers.deleted).status).toBe(204)
    expect((await answers.made).status).toBe(401)
    expect((await world.root.get(`/groups/${sent.path}`)).status).toBe(404)
  })

  test('POST /groups returns the group with the defaults, owned by its creator', async ({ world }) => {
    const ann = await world.user()
    const sent = named()
    const made = await ann.post('/groups', sent)
    expect(made.status).toBe(201)
    expect(made.json).toEqual({
      id: expect.any(Number),
      ...sent,
      full_name: sent.name,
      full_path: sent.path,
      description: '',
      visibility: 'private',
      share_with_group_lock: false,
      require_two_factor_authentication: false,
      two_factor_grace_period: 48,
      project_creation_level: 'developer',
      subgroup_creation_level: 'maintainer',
      auto_devops_enabled: null,
      emails_disabled: null,
      mentions_disabled: null,
      lfs_enabled: true,
      avatar_url: null,
      web_url: `${world.origin}/groups/${sent.path}`,
      request_access_enabled: false,
      file_template_project_id: null,
      parent_id: null,
      created_at: expect.stringMatching(/Z$/),
      membership_lock: false,
      shared_runners_minutes_limit: null,
      extra_shared_runners_minutes_limit: null,
      runners_token: expect.stringMatching(/^[\w-]{20}$/),
      projects: [],
      shared_projects: [],
      shared_with_groups: [],
      marked_for_deletion_on: null,
    })
    expect((await ann.get(`/groups/${made.json.id}/members`)).json).toMatchObject([{ id: ann.id, access_level: 50 }])
    const [event] = await auditOf(world, { type: 'Group', id: made.json.id }, 'kind', 'author_id', 'facts')
    expect(event).toEqual({
      kind: 'group_created',
      author_id: ann.id,
      facts: { name: sent.name, full_path: sent.path },
    })
  })

  test('D2-GROUP-MINUTES: POST /groups accepts every documented parameter', async ({ world }) => {
    const sent = named({
      description: 'What we do',
      visibility: 'internal',
      membership_lock: true,
      share_with_group_lock: true,
      require_two_factor_authentication: true,
      two_factor_grace_period: 12,
      project_creation_level: 'maintainer',
      subgroup_creation_level: 'owner',
      auto_devops_enabled: true,
      emails_disabled: true,
      mentions_disabled: false,
      lfs_enabled: false,
      request_access_enabled: true,
      shared_runners_minutes_limit: 10,
      extra_shared_runners_minutes_limit: 0,
    })
    expect(await world.root.post('/groups', sent)).toMatchObject({ status: 201, json: sent })
  })

  test('D2-GROUP-NESTED: parent_id creates a subgroup', async ({ world }) => {
    const top = await world.group({ visibility: 'public', share_with_group_lock: true })
    const sent = named({ parent_id: top.id })
    expect(await world.root.post('/groups', sent)).toMatchObject({
      status: 201,
      json: {
        parent_id: top.id,
        full_path: `${top.path}/${sent.path}`,
        full_name: `${top.path} / ${sent.name}`,
        web_url: `${world.origin}/groups/${top.path}/${sent.path}`,
        // A subgroup of a locked group starts locked.
        share_with_group_lock: true,
      },
    })
    expect((await world.root.post('/groups', named({ parent_id: null }))).json.parent_id).toBe(null)
  })

  test('a subgroup of a locked group starts locked, whatever its creator requests', async ({ world }) => {
    const mia = await world.user()
    const top = await world.group({ share_with_group_lock: true, members: [[mia, 'maintainer']] })
    const inner = await mia.post('/groups', named({ parent_id: top.id, share_with_group_lock: false }))
    expect(inner).toMatchObject({ status: 201, json: { share_with_group_lock: true } })
  })

  test('400 for POST /groups without a name or path', async ({ world }) => {
    expect(await world.root.post('/groups', {})).toMatchObject({
      status: 400,
      json: { error: 'name is missing, path is missing' },
    })
    expect(await world.root.post('/groups', { name: '', path: '' })).toMatchObject(
      refusedWith(`:name=>["can't be blank"], :path=>["can't be blank"]`),
    )
  })

  test.for([
    [{ path: 'api' }, ':path=>["api is a reserved name"]'],
    [
      { path: 'a b' },
      `:path=>["can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."]`,
    ],
    [{ name: 'a/b' }, `:name=>["can contain only letters, digits, '_', '.', dash and space."]`],
    [{ name: '  ' }, `:name=>["can't be blank"]`],
    [{ name: 'n'.repeat(256) }, ':name=>["is too long (maximum is 255 characters)"]'],
    [{ description: 'd'.repeat(256) }, ':description=>["is too long (maximum is 255 characters)"]'],
  ] as const)('400 for POST /groups with %j', async ([more, text], { world }) => {
    expect(await world.root.post('/groups', named(more))).toMatchObject(refusedWith(text))
  })

  test.for([
    [{ visibility: 'secret' }, 'visibility does not have a valid value'],
    [{ project_creation_level: 'owner' }, 'project_creation_level does not have a valid value'],
    [{ subgroup_creation_level: 'noone' }, 'subgroup_creation_level does not have a valid value'],
    [{ parent_id: 'top' }, 'parent_id is invalid'],
    [{ lfs_enabled: 'perhaps' }, 'lfs_enabled is invalid'],
    [{ two_factor_grace_period: 'x' }, 'two_factor_grace_period is invalid'],
    [{ description: '\ud800' }, 'description is invalid'],
  ] as const)('400 for POST /groups with the invalid parameter %j', async ([more, error], { world }) => {
    expect(await world.root.post('/groups', named(more))).toMatchObject({ status: 400, json: { error } })
  })

  test('400 for a path used by a group, project or user in the same parent, in any case', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group()
    const inner = await world.group({ parent: top })
    const taken = refusedWith(':path=>["has already been taken"]')
    expect(await world.root.post('/groups', { name: 'x', path: top.path.toUpperCase() })).toMatchObject(taken)
    expect(await world.root.post('/groups', { name: 'x', path: ann.username })).toMatchObject(taken)
    expect(await world.root.post('/groups', { name: 'x', path: inner.path, parent_id: top.id })).toMatchObject(taken)
    expect((await world.root.post('/groups', { name: 'x', path: inner.path })).status).toBe(201)
    const project = await world.project({ group: top })
    expect(await world.root.post('/groups', { name: 'x', path: project.path, parent_id: top.id })).toMatchObject(taken)
  })

  test('a group is created while the creation of another has not ended', async ({ world }) => {
    const ann = await world.user()
    await world.db.transaction(async (tx) => {
      await lockAccessForNew(tx)
      expect((await ann.post('/groups', named())).status).toBe(201)
    })
  })

  test('one of several concurrent creations of the same group succeeds', async ({ world }) => {
    const same = named()
    const answers = await Promise.all(Array.from({ length: 5 }, () => world.root.post('/groups', same)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400])
  })

  test('400 for a group below twenty levels', async ({ world }) => {
    let parent = await world.group()
    for (let depth = 2; depth <= 20; depth++) parent = await world.group({ parent })
    expect(await world.root.post('/groups', named({ parent_id: parent.id }))).toMatchObject(
      refusedWith(':parent_id=>["has too deep level of nesting"]'),
    )
  })

  test('400 when a change makes a full path longer than 2,000 characters', async ({ world }) => {
    const { root } = world
    const tooLong = 'makes the full path too long (maximum is 2000 characters)'
    const long = () => randomBytes(127).toString('hex')
    let parent = await world.group({ path: long() })
    for (let depth = 2; depth <= 7; depth++) parent = await world.group({ parent, path: long() })
    expect(await root.post('/groups', named({ path: long(), parent_id: parent.id }))).toMatchObject(
      refusedWith(`:path=>["${tooLong}"]`),
    )
    expect(await root.post('/projects', { path: long(), namespace_id: parent.id })).toMatchObject({
      status: 400,
      json: { message: { path: [tooLong] } },
    })
    const group = await world.group({ parent, path: 'short' })
    const project = await world.project({ group: parent })
    for (const path of [`/groups/${group.id}`, `/projects/${project.id}`])
      expect(await root.put(path, { path: long() }), path).toMatchObject({
        status: 400,
        json: { message: { path: [tooLong] } },
      })
    const moved = await world.project({ group: await world.group({ path: long() }) })
    await root.put(`/projects/${moved.id}`, { path: long() })
    expect(await root.put(`/projects/${moved.id}/transfer`, { namespace: parent.id })).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining(tooLong) },
    })
    const above = (await root.get(`/projects/${moved.id}`)).json.namespace
    expect(await root.post(`/groups/${above.id}/transfer`, { group_id: parent.id })).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining(tooLong) },
    })
  })

  test('D2-GROUP-CREATE-RIGHT: only users who may create groups, or subgroups in their group', async ({ world }) => {
    const cannot = await world.user({ can_create_group: false })
    const external = await world.user({ external: true })
    for (const who of [cannot, external])
      expect(await who.post('/groups', named())).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    expect(await world.anonymous.post('/groups', named())).toMatchObject({ status: 401 })
    const group = await world.group({ members: [[cannot, 'owner']] })
    expect((await cannot.post('/groups', named({ parent_id: group.id }))).status).toBe(201)
  })

  test.for([
    { subgroup_creation_level: 'maintainer', level: 'maintainer', status: 201 },
    { subgroup_creation_level: 'maintainer', level: 'developer', status: 403 },
    { subgroup_creation_level: 'owner', level: 'maintainer', status: 403 },
    { subgroup_creation_level: 'owner', level: 'owner', status: 201 },
  ] as const)('at subgroup_creation_level $subgroup_creation_level, a $level gets $status', async (each, { world }) => {
    const ann = await world.user()
    const { subgroup_creation_level, level, status } = each
    const group = await world.group({ subgroup_creation_level, members: [[ann, level]] })
    expect((await ann.post('/groups', named({ parent_id: group.id }))).status).toBe(status)
  })

  test('404 for a subgroup of a hidden group, 403 for one of a visible group', async ({ world }) => {
    const ann = await world.user()
    const hidden = await world.group()
    const open = await world.group({ visibility: 'public' })
    for (const parent_id of [hidden.id, 0, -3, Number.MAX_SAFE_INTEGER])
      expect(await ann.post('/groups', named({ parent_id }))).toMatchObject({
        status: 404,
        json: { message: '404 Group Not Found' },
      })
    expect((await ann.post('/groups', named({ parent_id: open.id }))).status).toBe(403)
  })

  test('400 for a group more visible than its parent', async ({ world }) => {
    const internal = await world.group({ visibility: 'internal' })
    expect(await world.root.post('/groups', named({ parent_id: internal.id, visibility: 'public' }))).toMatchObject(
      refusedWith(':visibility_level=>["public is not allowed since the parent group has a internal visibility."]'),
    )
    expect(
      (await world.root.post('/groups', named({ parent_id: internal.id, visibility: 'internal' }))).json.visibility,
    ).toBe('internal')
  })
})

describe('POST /groups with other settings', () => {
  test('D2-SETTINGS-PROJECT-CREATION: defaults and restricted visibilities come from settings', async () => {
    await using world = await World.start()
    const ann = await world.user()
    await world.settings({
      default_group_visibility: 'internal',
      default_project_creation: 0,
      restricted_visibility_levels: ['public'],
    })
    const made = await ann.post('/groups', named())
    expect(made.json).toMatchObject({ visibility: 'internal', project_creation_level: 'noone' })
    await world.settings({ default_project_creation: 1 })
    expect((await ann.post('/groups', named())).json.project_creation_level).toBe('maintainer')
    const secret = await ann.post('/groups', named({ visibility: 'private' }))
    // Never more visible than the parent.
    expect((await ann.post('/groups', named({ parent_id: secret.json.id }))).json.visibility).toBe('private')
    const text = 'public has been restricted by your Stithy administrator'
    expect(await ann.post('/groups', named({ visibility: 'public' }))).toMatchObject(
      refusedWith(`:visibility_level=>["${text}"]`),
    )
    expect(await ann.put(`/groups/${made.json.id}`, { visibility: 'public' })).toMatchObject({
      status: 400,
      json: { message: { visibility_level: [text] } },
    })
    expect((await world.root.post('/groups', named({ visibility: 'public' }))).status).toBe(201)
    expect((await world.root.put(`/groups/${made.json.id}`, { visibility: 'public' })).status).toBe(200)
    expect(await ann.post('/projects', { name: 'P', visibility: 'public' })).toMatchObject({
      status: 400,
      json: { message: { visibility_level: [text] } },
    })
    const mine = (await ann.post('/projects', { name: 'Q' })).json.id
    expect(await ann.put(`/projects/${mine}`, { visibility: 'public' })).toMatchObject({
      status: 400,
      json: { message: { visibility_level: [text] } },
    })
    expect((await world.root.put(`/projects/${mine}`, { visibility: 'public' })).status).toBe(200)
    // No user, not even an owner or administrator, creates projects in such a group.
    for (const who of [ann, world.root])
      expect(await who.post('/projects', { name: 'R', namespace_id: made.json.id })).toMatchObject({
        status: 400,
        json: { message: { namespace: ['is not valid'] } },
      })
  })
})
