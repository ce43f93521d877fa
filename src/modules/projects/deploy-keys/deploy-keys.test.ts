import { describe, expect } from 'vitest'
import { auditOf } from '../../../../test/tables/events.ts'
import { deleteProject } from '../../../../test/tables/projects.ts'
import { forgetKeyCreator } from '../../../../test/tables/users.ts'
import { test } from '../../../../test/world.ts'
import { levels } from '../../../access/levels.ts'
import { deployKeyActor } from '../../accounts/ssh-keys/authenticate.ts'
import { newPublicKey } from '../../accounts/ssh-keys/testing.ts'
import { findProject } from '../projects/queries.ts'

const keysOf = (id: number) => `/projects/${id}/deploy_keys`

describe('deploy keys', () => {
  test('deploy keys are added, read, listed, changed and removed', async ({ world }) => {
    const mia = await world.user()
    const { id } = await world.project({ members: [[mia, 'maintainer']] })
    const key = newPublicKey()
    const made = await mia.post(keysOf(id), { title: 'robot', key })
    expect(made).toMatchObject({
      status: 201,
      json: {
        title: 'robot',
        key,
        can_push: false,
        expires_at: null,
        fingerprint: expect.stringMatching(/^[0-9a-f:]{47}$/),
      },
    })
    const at = `${keysOf(id)}/${made.json.id}`
    expect((await mia.get(at)).json).toEqual(made.json)
    expect((await mia.get(keysOf(id))).json).toEqual([made.json])
    expect(await mia.put(at, { can_push: true })).toMatchObject({
      status: 200,
      json: { title: 'robot', can_push: true },
    })
    expect(await mia.put(at, { title: 'other' })).toMatchObject({
      status: 200,
      json: { title: 'other', can_push: true },
    })
    expect((await mia.put(at, {})).json).toEqual({
      error: 'title, can_push are missing, at least one parameter must be provided',
    })
    expect((await mia.put(at, { title: '' })).json).toEqual({ message: { 'deploy_key.title': ["can't be blank"] } })
    expect((await mia.delete(at)).status).toBe(204)
    for (const answer of [await mia.delete(at), await mia.get(at), await mia.put(at, { can_push: true })])
      expect(answer).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    // Removing it from the last project deletes the key.
    expect((await world.root.get(`/keys/${made.json.id}`)).status).toBe(404)
    expect((await mia.post('/user/keys', { title: 'now mine', key })).status).toBe(201)
  })

  test('a deploy key that is sent as it is leaves no audit event', async ({ world }) => {
    const { id } = await world.project()
    const { json } = await world.root.post(keysOf(id), { title: 'robot', key: newPublicKey(), can_push: true })
    const send = (more: object) => world.root.put(`${keysOf(id)}/${json.id}`, more)
    const events = () => auditOf(world, { type: 'Project', id, event: 'deploy_key_updated' }, 'facts')
    expect(await send({ title: 'robot', can_push: true })).toMatchObject({ status: 200, json })
    expect(await events()).toEqual([])
    expect((await send({ title: 'robot', can_push: false })).json).toMatchObject({ can_push: false })
    expect(await events()).toMatchObject([{ facts: { can_push: false } }])
  })

  test('projects share a deploy key, with push access in some of them', async ({ world }) => {
    const mia = await world.user()
    const [one, two] = [
      await world.project({ members: [[mia, 'maintainer']] }),
      await world.project({ members: [[mia, 'maintainer']] }),
    ]
    const key = newPublicKey()
    const { id } = (await mia.post(keysOf(one.id), { title: 'robot', key, can_push: true })).json
    expect(await mia.post(`${keysOf(two.id)}/${id}/enable`)).toMatchObject({
      status: 201,
      json: { id, can_push: false },
    })
    // Enabling it again removes no permission.
    expect((await mia.post(`${keysOf(one.id)}/${id}/enable`)).json).toMatchObject({ id, can_push: true })
    expect((await mia.post(keysOf(one.id), { title: 'again', key })).json).toMatchObject({
      id,
      title: 'robot',
      can_push: true,
    })
    const listed = (await world.root.get('/deploy_keys?per_page=100')).json.find(
      (each: { id: number }) => each.id === id,
    )
    expect(listed.projects_with_write_access).toMatchObject([{ id: one.id, path_with_namespace: one.full_path }])
    expect((await world.root.get(`/keys/${id}`)).json).toMatchObject({
      user: { id: mia.id },
      deploy_keys_projects: [
        { project_id: one.id, can_push: true },
        { project_id: two.id, can_push: false },
      ],
    })
    expect((await mia.delete(`${keysOf(one.id)}/${id}`)).status).toBe(204)
    expect((await mia.get(`${keysOf(two.id)}/${id}`)).status).toBe(200)
  })

  test('a deploy key reads the projects in which it is enabled, and no other project with deploy keys', async ({
    world,
  }) => {
    const [own, other] = [
      await world.project({ visibility: 'private' }),
      await world.project({ visibility: 'private' }),
    ]
    const add = async (project: { id: number }, title: string) =>
      (await world.root.post(keysOf(project.id), { title, key: newPublicKey() })).json.id as number
    const actor = (await deployKeyActor(world.db, await add(own, 'own')))!
    await add(other, 'other')
    const levelIn = async (project: { id: number }) => (await findProject(world.db, actor, project.id))!.level
    expect([await levelIn(own), await levelIn(other)]).toEqual([levels.reporter, null])
  })

  test('400 for a deploy key that would have expired already', async ({ world }) => {
    const { id } = await world.project()
    const sent = { title: 'old', key: newPublicKey(), expires_at: '2020-01-01T00:00:00Z' }
    expect(await world.root.post(keysOf(id), sent)).toMatchObject({
      status: 400,
      json: { message: { 'deploy_key.key': ['has expired'] } },
    })
  })

  test('adding the same key text enables the existing key for maintainers of its projects', async ({ world }) => {
    const [mia, eve] = [await world.user(), await world.user()]
    const [one, two, three] = [
      await world.project({ members: [[mia, 'maintainer']] }),
      await world.project({ members: [[mia, 'maintainer']] }),
      await world.project({ members: [[eve, 'maintainer']] }),
    ]
    const key = newPublicKey()
    const { id } = (await mia.post(keysOf(one.id), { title: 'robot', key })).json
    expect(await mia.post(keysOf(two.id), { title: 'x', key, can_push: true })).toMatchObject({
      status: 201,
      json: { id, title: 'robot', can_push: true },
    })
    expect(await eve.post(keysOf(three.id), { title: 'x', key })).toMatchObject({
      status: 400,
      json: { message: { 'deploy_key.fingerprint_sha256': ['has already been taken'] } },
    })
    expect(await eve.post(`${keysOf(three.id)}/${id}/enable`)).toMatchObject({
      status: 404,
      json: { message: '404 Deploy Key Not Found' },
    })
  })

  test('concurrent additions of the same deploy key return the same key', async ({ world }) => {
    const mia = await world.user()
    const { id } = await world.project({ members: [[mia, 'maintainer']] })
    const sent = { title: 'robot', key: newPublicKey() }
    const answers = await Promise.all([1, 2, 3, 4].map(() => mia.post(keysOf(id), sent)))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect((await mia.get(keysOf(id))).json).toEqual([answers[0]!.json])
  })

  test('400 for a deploy key that is the SSH key of a user', async ({ world }) => {
    const { id } = await world.project()
    const key = newPublicKey()
    const own = (await world.root.post('/user/keys', { title: 'mine', key })).json
    expect((await world.root.post(`${keysOf(id)}/${own.id}/enable`)).status).toBe(404)
    expect((await world.root.post(keysOf(id), { title: 'x', key })).status).toBe(400)
    expect(
      (await world.root.get('/deploy_keys?per_page=100')).json.map((each: { id: number }) => each.id),
    ).not.toContain(own.id)
  })

  test('a deploy key outlives its creator and is deleted with its last project', async ({ world }) => {
    const { id } = await world.project()
    const mia = await world.user()
    await world.root.post(`/projects/${id}/members`, { user_id: mia.id, access_level: 40 })
    const made = (await mia.post(keysOf(id), { title: 'robot', key: newPublicKey() })).json
    await forgetKeyCreator(world, made.id)
    expect((await world.root.get(`/keys/${made.id}`)).json).toMatchObject({ user: null })
    await deleteProject(world, { id: id })
    expect((await world.root.get(`/keys/${made.id}`)).status).toBe(404)
  })

  test.for([
    ['anonymous', 401],
    ['a stranger', 404],
    ['guest', 403],
    ['reporter', 403],
    ['developer', 403],
    ['maintainer', 200],
    ['owner', 200],
  ] as const)('deploy keys are for maintainers: %s gets %i', async ([who, status], { world }) => {
    const ann = who === 'anonymous' ? world.anonymous : await world.user()
    const level = who === 'anonymous' || who === 'a stranger' ? undefined : who
    const group = await world.group({ members: level === 'owner' ? [[ann, 'owner']] : [] })
    const { id } = await world.project({ group, members: level && level !== 'owner' ? [[ann, level]] : [] })
    const there = (await world.root.post(keysOf(id), { title: 'robot', key: newPublicKey() })).json
    const at = `${keysOf(id)}/${there.id}`
    const good = (success: number) => (status === 200 ? success : status)
    expect((await ann.get(keysOf(id))).status).toBe(status)
    expect((await ann.get(at)).status).toBe(status)
    expect((await ann.post(keysOf(id), { title: 'x', key: newPublicKey() })).status).toBe(good(201))
    expect((await ann.post(`${at}/enable`)).status).toBe(good(201))
    expect((await ann.put(at, { can_push: true })).status).toBe(good(200))
    expect((await ann.delete(at)).status).toBe(good(204))
    expect((await ann.get('/deploy_keys')).status).toBe(who === 'anonymous' ? 401 : 403)
  })

  test.for([
    [{ title: 'x' }, { error: 'key is missing' }],
    [{ key: 'x' }, { error: 'title is missing' }],
    [
      { title: '', key: 'x' },
      {
        message: {
          'deploy_key.title': ["can't be blank"],
          'deploy_key.key': ['is invalid'],
          'deploy_key.fingerprint': ['cannot be generated'],
        },
      },
    ],
    [{ title: 'x', key: 'x', can_push: 'perhaps' }, { error: 'can_push is invalid' }],
  ] as const)('400 by field for the deploy key %#', async ([sent, body], { world }) => {
    const { id } = await world.project()
    expect(await world.root.post(keysOf(id), sent)).toMatchObject({ status: 400, json: body })
  })
})
