import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { lockRow, waitingFor } from '../../test/tables/instance.ts'
import { lockProject } from '../../test/tables/projects.ts'
import { type Answer, type Client, type TestGroup, test, unique, type World } from '../../test/world.ts'
import type { Tx } from '../db/db.ts'
import { newPublicKey } from './accounts/ssh-keys/testing.ts'
import { lockToken } from './accounts/tokens/queries.ts'
import { lockState } from './accounts/users/state-queries.ts'
import { lockGroup } from './groups/index.ts'
import { lockQueue } from './integrations/deliveries/expand-queries.ts'
import { lockHolder, lockHook } from './integrations/hooks/queries.ts'
import { lockForkRelations } from './lifecycle/forks/queries.ts'
import { lockAccess } from './namespaces/index.ts'
import { lockPushRule } from './pushes/push-rules/queries.ts'

type Request = () => Promise<Answer>
type OfAccount = (who: Client, id: number) => Promise<Answer>

/** The answer to a request that waits for the lock of access behind another one, and was checked before that took effect. */
async function answerAfter(world: World, earlier: Request, request: Request): Promise<Answer> {
  const sent = await world.db.transaction(async (tx) => {
    await lockAccess(tx)
    const before = earlier()
    await expect.poll(() => waitingFor(world, 'advisory lock')).toHaveLength(1)
    const waiting = request()
    await expect.poll(() => waitingFor(world, 'advisory lock')).toHaveLength(2)
    return { before, waiting }
  })
  expect((await sent.before).status).toBeLessThan(300)
  return sent.waiting
}

/** Two groups that Ann owns, a private project in the first, and another user. */
async function owned(world: World) {
  const [ann, bob] = [await world.user(), await world.user()]
  const group = await world.group({ members: [[ann, 'owner']] })
  const other = await world.group({ members: [[ann, 'owner']] })
  const project = await world.project({ group })
  return { ann, bob, group, other, project }
}

type Place = Awaited<ReturnType<typeof owned>>

const leaves =
  (world: World, { ann }: Place, { id }: TestGroup): Request =>
  () =>
    world.root.delete(`/groups/${id}/members/${ann.id}`)

const requests: Record<string, (place: Place) => Promise<Answer>> = {
  'PUT /projects/:id/transfer': ({ ann, project, other }) =>
    ann.put(`/projects/${project.id}/transfer`, { namespace: other.id }),
  'POST /groups/:id/transfer': ({ ann, group, other }) =>
    ann.post(`/groups/${group.id}/transfer`, { group_id: other.id }),
  'POST /projects/:id/share': ({ ann, project, other }) =>
    ann.post(`/projects/${project.id}/share`, { group_id: other.id, group_access: 30 }),
  'POST /groups/:id/share': ({ ann, group, other }) =>
    ann.post(`/groups/${group.id}/share`, { group_id: other.id, group_access: 30 }),
  'POST /groups/:id/members': ({ ann, bob, group }) =>
    ann.post(`/groups/${group.id}/members`, { user_id: bob.id, access_level: 50 }),
  'POST /projects/:id/members': ({ ann, bob, project }) =>
    ann.post(`/projects/${project.id}/members`, { user_id: bob.id, access_level: 40 }),
  'POST /groups/:id/invitations': ({ ann, group }) =>
    ann.post(`/groups/${group.id}/invitations`, { email: `${unique('new')}@example.com`, access_level: 50 }),
  'PUT /groups/:id': ({ ann, group }) => ann.put(`/groups/${group.id}`, { path: unique('renamed') }),
  'DELETE /groups/:id': ({ ann, group }) => ann.delete(`/groups/${group.id}`),
  'POST /groups': ({ ann, group }) =>
    ann.post('/groups', { name: 'inner', path: unique('inner'), parent_id: group.id }),
  'POST /groups/:id/access_tokens': ({ ann, group }) =>
    ann.post(`/groups/${group.id}/access_tokens`, { name: 'bot', scopes: ['api'], access_level: 50 }),
}

describe('a request whose caller loses the right while it waits for changes of access', () => {
  test.for(Object.keys(requests))('%s is refused to an owner who was removed meanwhile', async (name, { world }) => {
    const place = await owned(world)
    const answer = await answerAfter(world, leaves(world, place, place.group), () => requests[name]!(place))
    expect([403, 404]).toContain(answer.status)
  })

  test.for(['projects', 'groups'] as const)(
    'a %s transfer into a group whose owner was removed is refused',
    async (of, { world }) => {
      const place = await owned(world)
      const request = requests[of === 'projects' ? 'PUT /projects/:id/transfer' : 'POST /groups/:id/transfer']!
      const answer = await answerAfter(world, leaves(world, place, place.other), () => request(place))
      expect([400, 404]).toContain(answer.status)
      expect((await world.root.get(`/projects/${place.project.id}`)).json.namespace.id).toBe(place.group.id)
    },
  )

  test.for(['projects', 'groups'] as const)(
    '404 to sharing of %s with a private group that was left',
    async (of, { world }) => {
      const place = await owned(world)
      const answer = await answerAfter(world, leaves(world, place, place.other), () =>
        requests[`POST /${of}/:id/share`]!(place),
      )
      expect(answer.status).toBe(404)
    },
  )

  test('a member who is no owner any more removes no others', async ({ world }) => {
    const { ann, bob, group } = await owned(world)
    await world.root.post(`/groups/${group.id}/members`, { user_id: bob.id, access_level: 30 })
    const demoted = () => world.root.put(`/groups/${group.id}/members/${ann.id}`, { access_level: 10 })
    const answer = await answerAfter(world, demoted, () => ann.delete(`/groups/${group.id}/members/${bob.id}`))
    expect(answer.status).toBe(403)
  })

  test('a member who is no owner any more denies no access request', async ({ world }) => {
    const { ann, bob, group } = await owned(world)
    await world.root.put(`/groups/${group.id}`, { visibility: 'public', request_access_enabled: true })
    expect((await bob.post(`/groups/${group.id}/access_requests`)).status).toBe(201)
    const demoted = () => world.root.put(`/groups/${group.id}/members/${ann.id}`, { access_level: 10 })
    const answer = await answerAfter(world, demoted, () => ann.delete(`/groups/${group.id}/access_requests/${bob.id}`))
    expect(answer.status).toBe(403)
  })

  test('a member is not added to a project whose group locked its members meanwhile', async ({ world }) => {
    const { ann, bob, group, project } = await owned(world)
    const locks = () => world.root.put(`/groups/${group.id}`, { membership_lock: true, path: unique('renamed') })
    const member = { user_id: bob.id, access_level: 30 }
    const added = await answerAfter(world, locks, () => ann.post(`/projects/${project.id}/members`, member))
    expect(added.status).toBe(405)
    expect((await world.root.get(`/projects/${project.id}/members/${bob.id}`)).status).toBe(404)
  })

  test('no address is invited to a project whose group locked its members meanwhile', async ({ world }) => {
    const { ann, group, project } = await owned(world)
    const locks = () => world.root.put(`/groups/${group.id}`, { membership_lock: true, path: unique('renamed') })
    const offer = { email: `${unique('new')}@example.com`, access_level: 30 }
    const invited = await answerAfter(world, locks, () => ann.post(`/projects/${project.id}/invitations`, offer))
    expect(invited.status).toBe(405)
    expect((await world.root.get(`/projects/${project.id}/invitations`)).json).toEqual([])
  })

  test('a member gets no lower level than in the group into which the project was transferred meanwhile', async ({
    world,
  }) => {
    const { ann, bob, other, project } = await owned(world)
    await world.root.post(`/groups/${other.id}/members`, { user_id: bob.id, access_level: 50 })
    const moves = () => world.root.put(`/projects/${project.id}/transfer`, { namespace: other.id })
    const member = { user_id: bob.id, access_level: 10 }
    const added = await answerAfter(world, moves, () => ann.post(`/projects/${project.id}/members`, member))
    expect(added.status).toBe(400)
  })

  test('a request of an owner who is blocked meanwhile is refused', async ({ world }) => {
    const { ann, bob, group } = await owned(world)
    const answer = await answerDuring(
      world,
      () => ann.post(`/groups/${group.id}/members`, { user_id: bob.id, access_level: 50 }),
      () => world.root.post(`/users/${ann.id}/block`),
    )
    expect(answer.status).toBe(403)
  })

  test('a request of an administrator who is demoted meanwhile is refused, also on behalf of a user', async ({
    world,
  }) => {
    const admin = await world.user({ admin: true })
    const sudo = await world.as(admin as { id: number; username: string }, ['api', 'sudo'])
    const { bob, group, ann } = await owned(world)
    const member = { user_id: bob.id, access_level: 50 }
    const demote = () => world.root.put(`/users/${admin.id}`, { admin: false })
    const add = () => admin.post(`/groups/${group.id}/members`, member)
    expect((await answerDuring(world, add, demote)).status).toBe(403)
    await world.root.put(`/users/${admin.id}`, { admin: true })
    const addAs = () => sudo.post(`/groups/${group.id}/members?sudo=${ann.id}`, member)
    expect((await answerDuring(world, addAs, demote)).status).toBe(403)
  })

  test('a request whose token is revoked meanwhile is refused', async ({ world }) => {
    const { ann, bob, group } = await owned(world)
    const second = await world.as(ann as { id: number; username: string })
    const token = (await second.get('/personal_access_tokens/self')).json
    const answer = await answerDuring(
      world,
      () => second.post(`/groups/${group.id}/members`, { user_id: bob.id, access_level: 50 }),
      () => world.root.delete(`/personal_access_tokens/${token.id}`),
    )
    expect(answer.status).toBe(401)
  })

  test('with an idempotency key, a request is refused to an owner who was removed meanwhile', async ({ world }) => {
    const place = await owned(world)
    const { ann, bob, group } = place
    const answer = await answerAfter(world, leaves(world, place, group), () =>
      ann.send('POST', `/groups/${group.id}/members`, {
        json: { user_id: bob.id, access_level: 50 },
        headers: { 'idempotency-key': unique('key') },
      }),
    )
    expect([403, 404]).toContain(answer.status)
  })
})

/** What a maintainer gives away, or creates to act later, in a project. */
const gifts: Record<string, (ann: Client, at: string) => Promise<Answer>> = {
  'POST hooks': (ann, at) => ann.post(`${at}/hooks`, { url: 'https://93.184.216.34/' }),
  'POST remote_mirrors': (ann, at) =>
    ann.post(`${at}/remote_mirrors`, { url: 'https://93.184.216.34/a.git', enabled: true }),
  'PUT services/slack': (ann, at) => ann.put(`${at}/services/slack`, { webhook: 'https://93.184.216.34/' }),
  'POST approval_rules': (ann, at) =>
    ann.post(`${at}/approval_rules`, { name: 'rule', approvals_required: 0, user_ids: [ann.id] }),
  'POST approvals': (ann, at) => ann.post(`${at}/approvals`, { reset_approvals_on_push: false }),
  'POST deploy_keys': (ann, at) => ann.post(`${at}/deploy_keys`, { title: 'key', key: newPublicKey(), can_push: true }),
  'POST deploy_tokens': (ann, at) => ann.post(`${at}/deploy_tokens`, { name: 'token', scopes: ['read_repository'] }),
  'POST protected_tags': (ann, at) => ann.post(`${at}/protected_tags`, { name: 'v*', create_access_level: 30 }),
  'POST push_rule': (ann, at) => ann.post(`${at}/push_rule`, { deny_delete_tag: false }),
  'POST export': (ann, at) =>
    ann.post(`${at}/export`, { upload: { url: 'https://93.184.216.34/', http_method: 'PUT' } }),
}

type Edit = {
  make(ann: Client, at: string): Promise<Answer>
  edit(ann: Client, at: string, id: number): Promise<Answer>
  lock(tx: Tx, projectId: number, id: number): Promise<unknown>
}

/** The same for what exists, with the row that a change of it waits for. */
const edits: Record<string, Edit> = {
  'PUT hooks': {
    make: gifts['POST hooks']!,
    edit: (ann, at, id) => ann.put(`${at}/hooks/${id}`, { url: 'https://93.184.216.35/' }),
    lock: (tx, of, id) => lockHook(tx, { of: 'project', id: of }, id),
  },
  'PUT remote_mirrors': {
    make: gifts['POST remote_mirrors']!,
    edit: (ann, at, id) => ann.put(`${at}/remote_mirrors/${id}`, { enabled: true }),
    lock: lockProject,
  },
  'PUT push_rule': {
    make: gifts['POST push_rule']!,
    edit: (ann, at) => ann.put(`${at}/push_rule`, { deny_delete_tag: true }),
    lock: (tx, id) => lockPushRule(tx, { of: 'project', id }),
  },
  'DELETE push_rule': {
    make: gifts['POST push_rule']!,
    edit: (ann, at) => ann.delete(`${at}/push_rule`),
    lock: (tx, id) => lockPushRule(tx, { of: 'project', id }),
  },
  'DELETE remote_mirrors': {
    make: gifts['POST remote_mirrors']!,
    edit: (ann, at, id) => ann.delete(`${at}/remote_mirrors/${id}`),
    lock: (tx, _, id) => lockRow(tx, 'push_mirrors', id),
  },
  'POST remote_mirrors/:id/sync': {
    make: (ann, at) => ann.post(`${at}/remote_mirrors`, { url: 'https://93.184.216.34/a.git', enabled: true }),
    edit: (ann, at, id) => ann.post(`${at}/remote_mirrors/${id}/sync`),
    lock: (tx, _, id) => lockRow(tx, 'push_mirrors', id),
  },
  'DELETE integrations': {
    make: async (ann, at) => ({
      ...(await ann.put(`${at}/integrations/slack`, { webhook: 'https://93.184.216.34/' })),
      status: 201,
    }),
    edit: (ann, at) => ann.delete(`${at}/integrations/slack`),
    lock: (tx, _, id) => lockRow(tx, 'hooks', id),
  },
  'POST hooks/:id/replay': {
    make: gifts['POST hooks']!,
    edit: (ann, at, id) => ann.post(`${at}/hooks/${id}/replay`, { since: new Date().toISOString() }),
    lock: lockQueue,
  },
  'POST access_tokens/:id/rotate': {
    make: (ann, at) => ann.post(`${at}/access_tokens`, { name: 'bot', scopes: ['api'], access_level: 40 }),
    edit: (ann, at, id) => ann.post(`${at}/access_tokens/${id}/rotate`),
    lock: (tx, _, id) => lockToken(tx, id),
  },
  'POST deploy_keys/:id/enable': {
    make: async (ann) => {
      const own = (await ann.post('/projects', { name: unique('own') })).json
      return ann.post(`/projects/${own.id}/deploy_keys`, { title: 'key', key: newPublicKey() })
    },
    edit: (ann, at, id) => ann.post(`${at}/deploy_keys/${id}/enable`),
    lock: lockProject,
  },
}

const creations: Record<string, (ann: Client, groupId: number, sourceId: number) => Promise<Answer>> = {
  'POST /projects': (ann, id) => ann.post('/projects', { name: unique('new'), namespace_id: id }),
  'POST /projects/:id/fork': (ann, id, sourceId) =>
    ann.post(`/projects/${sourceId}/fork`, { namespace_id: id, path: unique('fork') }),
  'POST /projects/remote-import': (ann, id) =>
    ann.post('/projects/remote-import', { url: 'https://93.184.216.34/a', path: unique('new'), namespace: id }),
}

describe('a project that waits for its group is refused', () => {
  test.for(Object.keys(creations))('by %s to a maintainer who was removed meanwhile', async (name, { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const source = await world.project({ members: [[ann, 'maintainer']] })
    const answer = await answerDuring(
      world,
      () => creations[name]!(ann, group.id, source.id),
      () => world.root.delete(`/groups/${group.id}/members/${ann.id}`),
      (tx) => lockGroup(tx, group.id),
    )
    expect(answer.status).toBe(400)
  })

  test('as a fork to a user who may not read the source any more', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const source = await world.project({ members: [[ann, 'maintainer']] })
    const answer = await answerDuring(
      world,
      () => creations['POST /projects/:id/fork']!(ann, group.id, source.id),
      () => world.root.delete(`/projects/${source.id}/members/${ann.id}`),
      (tx) => lockGroup(tx, group.id),
    )
    expect(answer.status).toBe(404)
  })

  test('to a user who was blocked meanwhile', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const answer = await answerDuring(
      world,
      () => creations['POST /projects']!(ann, group.id, 0),
      () => world.root.post(`/users/${ann.id}/block`),
      (tx) => lockGroup(tx, group.id),
    )
    expect(answer.status).toBe(403)
  })
})

describe('a request whose caller loses the right while it waits for a row', () => {
  test.for(Object.keys(gifts))('404 to %s of a maintainer who was removed meanwhile', async (name, { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const project = await world.project({ group })
    const answer = await answerDuring(
      world,
      () => gifts[name]!(ann, `/projects/${project.id}`),
      () => world.root.delete(`/groups/${group.id}/members/${ann.id}`),
      (tx) => lockProject(tx, project.id),
    )
    expect(answer.status).toBe(404)
  })

  test.for(Object.keys(edits))('404 to %s of a maintainer who was removed meanwhile', async (name, { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const at = `/projects/${(await world.project({ group })).id}`
    const { make, edit, lock } = edits[name]!
    const made = await make(ann, at)
    expect(made.status).toBe(201)
    const answer = await answerDuring(
      world,
      () => edit(ann, at, made.json.id),
      () => world.root.delete(`/groups/${group.id}/members/${ann.id}`),
      (tx) => lock(tx, Number(at.slice('/projects/'.length)), made.json.id),
    )
    expect(answer.status).toBe(404)
  })

  test.for(['renames', 'deletes', 'unlinks'])(
    '404 to an owner who %s a project and was removed meanwhile',
    async (what, { world }) => {
      const ann = await world.user()
      const group = await world.group({ members: [[ann, 'owner']] })
      const project = await world.project({ group })
      const at = `/projects/${project.id}`
      if (what === 'unlinks') {
        const source = await world.project()
        expect((await world.root.post(`${at}/fork/${source.id}`)).status).toBe(201)
      }
      const answer = await answerDuring(
        world,
        () =>
          what === 'renames'
            ? ann.put(at, { name: unique('renamed') })
            : ann.delete(what === 'deletes' ? at : `${at}/fork`),
        () => world.root.delete(`/groups/${group.id}/members/${ann.id}`),
        (tx) => lockProject(tx, project.id),
      )
      expect(answer.status).toBe(404)
      expect((await world.root.get(at)).json).toMatchObject({ name: project.name, marked_for_deletion_on: null })
    },
  )

  test.for(['project', 'source'])(
    '404 to the fork relation of a %s that the caller has left',
    async (left, { world }) => {
      const ann = await world.user()
      const [group, other] = [
        await world.group({ members: [[ann, 'owner']] }),
        await world.group({ members: [[ann, 'owner']] }),
      ]
      const [project, source] = [await world.project({ group }), await world.project({ group: other })]
      const answer = await answerDuring(
        world,
        () => ann.post(`/projects/${project.id}/fork/${source.id}`),
        () => world.root.delete(`/groups/${(left === 'project' ? group : other).id}/members/${ann.id}`),
        lockForkRelations,
      )
      expect(answer.status).toBe(404)
    },
  )

  test('403 to a mirror of a project that was archived while the request waited', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'owner']] })
    const at = `/projects/${(await world.project({ group })).id}`
    const answer = await answerDuring(
      world,
      () => ann.put(at, { mirror: true, import_url: 'https://93.184.216.34/a.git' }),
      () => world.root.post(`${at}/archive`),
      (tx) => lockGroup(tx, group.id),
    )
    expect(answer.status).toBe(403)
  })

  test('403 to an owner who changes the visibility of a project and was made a maintainer meanwhile', async ({
    world,
  }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'owner']], visibility: 'public' })
    const project = await world.project({ group })
    const answer = await answerDuring(
      world,
      () => ann.put(`/projects/${project.id}`, { visibility: 'public' }),
      () => world.root.put(`/groups/${group.id}/members/${ann.id}`, { access_level: 40 }),
      (tx) => lockProject(tx, project.id),
    )
    expect(answer.status).toBe(403)
  })
})

describe('a request of an administrator who loses the right while it waits', () => {
  test('403 to a system hook of an administrator who was demoted meanwhile', async ({ world }) => {
    const admin = await world.user({ admin: true })
    const answer = await answerDuring(
      world,
      () => admin.post('/hooks', { url: 'https://93.184.216.34/' }),
      () => world.root.put(`/users/${admin.id}`, { admin: false }),
      (tx) => lockHolder(tx, { of: 'instance' }),
    )
    expect(answer.status).toBe(403)
  })

  const undone: Record<string, readonly [taken: (world: World, id: number) => Promise<Answer>, undo: OfAccount]> = {
    'PUT /users/:id': [
      (world, id) => world.root.put(`/users/${id}`, { admin: false }),
      (who, id) => who.put(`/users/${id}`, { admin: true }),
    ],
    'POST /users/:id/unblock': [
      (world, id) => world.root.post(`/users/${id}/block`),
      (who, id) => who.post(`/users/${id}/unblock`),
    ],
    'POST /users/:id/unban': [
      (world, id) => world.root.post(`/users/${id}/ban`),
      (who, id) => who.post(`/users/${id}/unban`),
    ],
  }

  test.for(Object.keys(undone))('403 to %s by which they would get it back', async (name, { world }) => {
    const admin = await world.user({ admin: true })
    const [takes, undo] = undone[name]!
    await admin.get('/user')
    const sent = await world.db.transaction(async (tx) => {
      await lockState(tx, admin.id)
      // Not those that record the last day of activity of the administrator, which may wait for the same row.
      const changes = () => waitingFor(world, 'lock', 'for no key update')
      const before = takes(world, admin.id)
      await expect.poll(changes).toHaveLength(1)
      const waiting = undo(admin, admin.id)
      await expect.poll(changes).toHaveLength(2)
      return { before, waiting }
    })
    expect((await sent.before).status).toBeLessThan(300)
    expect((await sent.waiting).status).toBe(403)
    expect((await admin.get(`/users/${admin.id}/emails`)).status).toBe(403)
  })
})
