import { describe, expect } from 'vitest'
import { contextFor, counting } from '../../../../test/contexts.ts'
import { gitSsh, hasSsh, sshUrl, withKey } from '../../../../test/ssh.ts'
import { caughtUp } from '../../../../test/tables/events.ts'
import { daysAgo } from '../../../../test/tables/statements.ts'
import { deleteResourceBot, expireTokens } from '../../../../test/tables/tokens.ts'
import { Client, git, temporaryFolder, test, type World } from '../../../../test/world.ts'
import { asAccount } from '../../accounts/index.ts'
import { removeUser } from '../user-removal/jobs.ts'
import { removeIdleBots } from './jobs.ts'

type Made = { id: number; user_id: number; token: string; access_level: number }

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

const make = (who: Client, place: string, more: object = {}) =>
  who.post(`${place}/access_tokens`, { name: 'robot', scopes: ['api'], access_level: 30, ...more })

const clientOf = (world: World, made: Made) =>
  new Client(world.origin, { id: made.user_id, username: 'robot', token: made.token })

const ids = (answer: { json: { id: number }[] }) => answer.json.map(({ id }) => id)

/** Both kinds of holder, each with a user who may manage its tokens and one just below that role. */
const holders = {
  project: async (world: World) => {
    const [manager, lesser] = [await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [manager, 'maintainer'],
        [lesser, 'developer'],
      ],
    })
    return { manager, lesser, place: `/projects/${project.id}`, inside: project }
  },
  group: async (world: World) => {
    const [manager, lesser] = [await world.user(), await world.user()]
    const group = await world.group({
      members: [
        [manager, 'owner'],
        [lesser, 'maintainer'],
      ],
    })
    return { manager, lesser, place: `/groups/${group.id}`, inside: await world.project({ group }) }
  },
}

describe.for(['project', 'group'] as const)('access tokens of a %s', (of) => {
  test('a resource token acts as a bot member with the requested role, without other access', async ({ world }) => {
    const { manager, place, inside } = await holders[of](world)
    const internal = await world.project({ visibility: 'internal' })
    const made = await make(manager, place, { expires_at: day(9) })
    expect(made.status, made.text).toBe(201)
    expect(made.json).toEqual({
      id: expect.any(Number),
      name: 'robot',
      revoked: false,
      created_at: expect.any(String),
      scopes: ['api'],
      user_id: expect.any(Number),
      last_used_at: null,
      active: true,
      expires_at: day(9),
      access_level: 30,
      token: expect.stringMatching(/^[\w-]{20}$/),
    })
    const robot = clientOf(world, made.json)
    expect((await robot.get('/user')).json).toMatchObject({ id: made.json.user_id, bot: true, name: 'robot' })
    expect((await robot.get(`/projects/${inside.id}`)).status).toBe(200)
    expect((await robot.get(`/projects/${internal.id}`)).status).toBe(404)
    expect((await robot.put(`/projects/${inside.id}`, { description: 'x' })).status).toBe(403)
    expect((await robot.post('/projects', { name: 'own' })).status).toBe(403)
    expect((await robot.post('/groups', { name: 'own', path: 'own' })).status).toBe(403)
    expect((await manager.get(`${place}/members/${made.json.user_id}`)).json).toMatchObject({ access_level: 30 })
    expect(ids(await world.root.get('/users?per_page=100'))).not.toContain(made.json.user_id)
    const membership = { user_id: made.json.user_id, access_level: 30 }
    expect(
      (await world.root.post(`/projects/${internal.id}/members`, membership)).status,
      'a bot cannot join other projects',
    ).toBe(404)
  })

  test('a resource token pushes with git', async ({ world }) => {
    const { manager, place, inside } = await holders[of](world)
    const robot = clientOf(world, (await make(manager, place, { scopes: ['write_repository'], access_level: 40 })).json)
    await using folder = await temporaryFolder()
    await git(folder.path, 'init', '-q', '-b', 'main')
    await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'first')
    await git(folder.path, 'push', '-q', world.remote(inside, robot), 'main')
  })

  test('resource tokens are for their managers: 401, 403 or 404 for others', async ({ world }) => {
    const { manager, lesser, place } = await holders[of](world)
    const stranger = await world.user()
    const { id } = (await make(manager, place)).json
    for (const [who, status] of [
      [world.anonymous, 401],
      [stranger, 404],
      [lesser, 403],
    ] as const)
      for (const [verb, path] of [
        ['GET', ''],
        ['POST', ''],
        ['GET', `/${id}`],
        ['POST', `/${id}/rotate`],
        ['DELETE', `/${id}`],
      ] as const) {
        const json = { name: 'x', scopes: ['api'] }
        expect((await who.send(verb, `${place}/access_tokens${path}`, { json })).status, `${verb} ${path}`).toBe(status)
      }
    expect((await world.root.get(`${place}/access_tokens/${id}`)).json).toMatchObject({ id })
  })

  test('400 for a resource token with a higher role than its creator, or with sudo', async ({ world }) => {
    const { manager, place } = await holders[of](world)
    expect(await make(manager, place, { scopes: ['sudo'] })).toMatchObject({
      status: 400,
      json: { message: { scopes: ['can only contain available scopes'] } },
    })
    expect((await make(manager, place, { access_level: of === 'project' ? 50 : 60 })).json).toEqual({
      error: 'access_level does not have a valid value',
    })
    expect((await make(manager, place, { access_level: undefined })).json.access_level).toBe(40)
    const robot = clientOf(world, (await make(manager, place, { access_level: of === 'project' ? 40 : 50 })).json)
    expect((await make(robot, place)).status, 'a token cannot create others').toBe(403)
    const { id } = (await make(manager, place)).json
    expect((await robot.post(`${place}/access_tokens/${id}/rotate`)).status, 'a token cannot rotate others').toBe(403)
  })

  test('resource tokens are listed, and revoked together with their bots', async ({ world }) => {
    const { manager, place, inside } = await holders[of](world)
    const [one, two] = [
      (await make(manager, place)).json,
      (await make(manager, place, { expires_at: '2020-01-01' })).json,
    ]
    const list = (query = '') => manager.get(`${place}/access_tokens${query}`)
    expect(ids(await list())).toEqual([one.id, two.id])
    expect(ids(await list('?state=active'))).toEqual([one.id])
    expect(ids(await list('?state=inactive'))).toEqual([two.id])
    const robot = clientOf(world, one)
    expect((await robot.get(`/projects/${inside.id}`)).status).toBe(200)
    expect((await manager.delete(`${place}/access_tokens/${one.id}`)).status).toBe(204)
    await expect.poll(async () => (await robot.get('/user')).status).toBe(401)
    await removeUser.run({ userId: one.user_id, hard: false }, await contextFor(world, null))
    expect((await world.root.get(`/users/${one.user_id}`)).status).toBe(404)
    expect((await manager.get(`${place}/members/${one.user_id}`)).status).toBe(404)
    expect((await manager.delete(`${place}/access_tokens/${one.id}`)).json).toEqual({ message: '404 Not found' })
    expect(ids(await list())).toEqual([two.id])
  })

  test('the membership of a bot ends in the change feed as it began, once its token is revoked or has expired', async ({
    world,
  }) => {
    const { manager, place } = await holders[of](world)
    await caughtUp(world)
    const start = (await world.root.get('/events/changes')).headers['x-next-cursor']
    const revoked: Made = (await make(manager, place)).json
    const expired: Made = (await make(manager, place, { expires_at: '2020-01-01' })).json
    expect((await manager.delete(`${place}/access_tokens/${revoked.id}`)).status).toBe(204)
    const ctx = await contextFor(world, null)
    await removeIdleBots.run({}, ctx)
    for (const { user_id: userId } of [revoked, expired]) await removeUser.run({ userId, hard: false }, ctx)
    await caughtUp(world)
    const changes = (await manager.get(`/events/changes?after=${start}&limit=500`)).json as any[]
    const ends = changes
      .filter(({ kind }) => kind === 'member_removed')
      .map(({ target_id, actor_id, on_type }) => [target_id, actor_id, on_type.toLowerCase()])
    expect(ends).toEqual([
      [revoked.user_id, manager.id, of],
      [expired.user_id, null, of],
    ])
    const audited = (await world.root.get(`${place}/audit_events`)).json as any[]
    expect(audited.filter(({ event_name }) => event_name === 'member_removed')).toEqual([])
  })

  test('rotation replaces a resource token of the same bot, by a manager or itself', async ({ world }) => {
    const { manager, place } = await holders[of](world)
    const first = (await make(manager, place, { access_level: 10 })).json
    const second = (await manager.post(`${place}/access_tokens/${first.id}/rotate`)).json
    expect(second).toMatchObject({ user_id: first.user_id, access_level: 10, expires_at: day(7) })
    const robot = clientOf(world, second)
    const third = await robot.post(`${place}/access_tokens/self/rotate`, { expires_at: day(3) })
    expect(third).toMatchObject({ status: 200, json: { user_id: first.user_id, expires_at: day(3) } })
    await expect.poll(async () => (await robot.get('/user')).status).toBe(401)
    expect((await clientOf(world, third.json).get('/user')).status).toBe(200)
    expect((await robot.post(`${place}/access_tokens/self/rotate`)).status, 'reuse revokes the family').toBe(401)
    await expect.poll(async () => (await clientOf(world, third.json).get('/user')).status).toBe(401)
    expect((await manager.post(`${place}/access_tokens/self/rotate`)).status).toBe(404)
  })

  test('a resource token that was rotated is revoked alone, and its bot goes on with the new one', async ({
    world,
  }) => {
    const { manager, place } = await holders[of](world)
    const first = (await make(manager, place)).json
    const second = (await manager.post(`${place}/access_tokens/${first.id}/rotate`)).json
    expect((await manager.delete(`${place}/access_tokens/${first.id}`)).status).toBe(204)
    expect((await clientOf(world, second).get('/user')).status).toBe(200)
    expect(await world.jobs(`remove_user:${first.user_id}`)).toEqual([])
    const revocations = async () =>
      ((await world.root.get(`${place}/audit_events`)).json as any[]).filter(
        ({ event_name }) => event_name === 'resource_access_token_revoked',
      )
    expect(await revocations()).toHaveLength(0)
    expect((await manager.delete(`${place}/access_tokens/${second.id}`)).status).toBe(204)
    await expect.poll(async () => (await clientOf(world, second).get('/user')).status).toBe(401)
    expect(await world.jobs(`remove_user:${first.user_id}`)).toHaveLength(1)
    expect(await revocations()).toHaveLength(1)
  })

  test('404 for resource tokens of another project or group', async ({ world }) => {
    const [here, there] = [await holders[of](world), await holders[of](world)]
    const { id } = (await make(there.manager, there.place)).json
    for (const [verb, path] of [
      ['GET', ''],
      ['POST', '/rotate'],
      ['DELETE', ''],
    ] as const)
      expect((await here.manager.send(verb, `${here.place}/access_tokens/${id}${path}`)).status).toBe(404)
  })
})

test('a job removes bots whose tokens expired or whose project is gone, also blocked ones, and no others', async ({
  world,
}) => {
  const { manager, place } = await holders.project(world)
  const gone = await world.project({ members: [[manager, 'maintainer']] })
  const made = async (at: string, more: object = {}): Promise<Made> => (await make(manager, at, more)).json
  const [ended, orphan, alive, blocked] = [
    await made(place, { expires_at: '2020-01-01' }),
    await made(`/projects/${gone.id}`),
    await made(place),
    await made(place, { expires_at: '2020-01-01' }),
  ]
  expect((await world.root.post(`/users/${blocked.user_id}/block`)).status).toBe(201)
  await deleteResourceBot(world, orphan.user_id)
  const ctx = await contextFor(world, null)
  const counted = counting(ctx)
  await removeIdleBots.run({}, counted.ctx)
  expect(counted.counts.transactions).toBe(1)
  await removeIdleBots.run({}, ctx)
  for (const { user_id } of [ended, orphan, blocked]) expect(await world.jobs(`remove_user:${user_id}`)).toHaveLength(1)
  const state = async ({ user_id }: Made) => (await world.root.get(`/users/${user_id}`)).json.state
  expect([await state(ended), await state(orphan), await state(alive)]).toEqual(['blocked', 'blocked', 'active'])
  expect((await clientOf(world, alive).get('/user')).status).toBe(200)
})

/** Ways in which the token of a bot ends while its account remains until the daily job. */
const endings: readonly [string, (world: World, robot: Client, place: string) => Promise<unknown>][] = [
  ['was revoked by the bot', (_, robot) => robot.delete('/personal_access_tokens/self')],
  ['expired', (world, robot) => expireTokens(world, robot.id, daysAgo(1))],
  [
    'was revoked because a rotated one was used again',
    async (_, robot, place) => {
      const rotate = () => robot.post(`${place}/access_tokens/self/rotate`)
      await rotate()
      await expect.poll(async () => (await rotate()).status).toBe(401)
    },
  ],
]

describe.skipIf(!hasSsh)('with OpenSSH', () => {
  test.for(endings)('an SSH key of a bot is refused once the token of the bot %s', async ([, end], { world }) => {
    const { manager, place, inside } = await holders.project(world)
    const robot = clientOf(world, (await make(manager, place)).json)
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, robot)
    const list = () => gitSsh(world, key, folder.path, 'ls-remote', sshUrl(world, inside))
    expect(await list()).toMatchObject({ code: 0 })
    await end(world, robot, place)
    const { code, err } = await list()
    expect(code).not.toBe(0)
    expect(err).toContain('Your account has been blocked.')
  })
})

test('nothing happens later in the name of a bot whose token has ended', async ({ world }) => {
  const { manager, place } = await holders.project(world)
  const [ended, alive]: Made[] = [(await make(manager, place)).json, (await make(manager, place)).json]
  const ctx = await contextFor(world, null)
  const mayAct = async ({ user_id }: Made) => (await asAccount(ctx, user_id)) !== undefined
  expect(await mayAct(ended!)).toBe(true)
  await clientOf(world, ended!).delete('/personal_access_tokens/self')
  expect(await mayAct(ended!)).toBe(false)
  expect(await mayAct(alive!)).toBe(true)
})

test('notes of a bot remain after its token is revoked', async ({ world }) => {
  const { manager, place, inside } = await holders.project(world)
  await manager.post(`${place}/repository/commits`, {
    branch: 'main',
    commit_message: 'first',
    actions: [{ action: 'create', file_path: 'a', content: 'a' }],
  })
  const made = (await make(manager, place)).json
  const robot = clientOf(world, made)
  const comments = `/projects/${inside.id}/repository/commits/main/comments`
  expect((await robot.post(comments, { note: 'well done' })).status).toBe(201)
  await manager.delete(`${place}/access_tokens/${made.id}`)
  await removeUser.run({ userId: made.user_id, hard: false }, await contextFor(world, null))
  expect((await manager.get(comments)).json).toMatchObject([{ note: 'well done', author: { name: 'Ghost User' } }])
  await expect.poll(async () => (await robot.get('/user')).status).toBe(401)
})
