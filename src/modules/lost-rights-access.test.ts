import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { waitingFor } from '../../test/tables/instance.ts'
import { type Answer, type TestGroup, test, unique, type World } from '../../test/world.ts'
import { lockAccess } from './namespaces/index.ts'

type Request = () => Promise<Answer>

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
