import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { lockRow, waitingFor } from '../../test/tables/instance.ts'
import { type Answer, type Client, test, unique, type World } from '../../test/world.ts'
import type { Tx } from '../db/db.ts'
import { lockSettings } from '../settings/queries.ts'
import { newGpgKey } from './accounts/gpg-keys/testing.ts'
import { newPublicKey } from './accounts/ssh-keys/testing.ts'
import { lockState } from './accounts/users/state-queries.ts'
import { lockBroadcastMessage } from './administration/broadcast-messages/queries.ts'
import { lockFeature } from './administration/features/queries.ts'
import { lockHolder } from './integrations/hooks/queries.ts'

type Change = (admin: Client, at: string) => Promise<Answer>

/** What an administrator changes about a user, which waits for another change of the account. */
const ofUsers: Record<string, Change> = {
  'PUT /users/:id': (admin, at) => admin.put(at, { admin: true }),
  'POST /users/:id/block': (admin, at) => admin.post(`${at}/block`),
  'POST /users/:id/personal_access_tokens': (admin, at) =>
    admin.post(`${at}/personal_access_tokens`, { name: 'token', scopes: ['api'] }),
  'POST /users/:id/impersonation_tokens': (admin, at) =>
    admin.post(`${at}/impersonation_tokens`, { name: 'token', scopes: ['api'] }),
  'POST /users/:id/keys': (admin, at) => admin.post(`${at}/keys`, { title: 'key', key: newPublicKey() }),
  'POST /users/:id/gpg_keys': async (admin, at) =>
    admin.post(`${at}/gpg_keys`, { key: await newGpgKey(`${unique('new')}@example.com`) }),
  'POST /users/:id/emails': (admin, at) =>
    admin.post(`${at}/emails`, { email: `${unique('new')}@example.com`, skip_confirmation: true }),
}

const feature = unique('feature').replaceAll('-', '_')

/** What an administrator changes about the installation, and the row for which it waits. */
const ofInstance: Record<
  string,
  { change: (admin: Client, id: number) => Promise<Answer>; lock(tx: Tx, id: number): Promise<unknown> }
> = {
  'PUT /application/settings': {
    change: (admin) => admin.put('/application/settings', { default_projects_limit: 100_000 }),
    lock: lockSettings,
  },
  'PUT /broadcast_messages/:id': {
    change: (admin, id) => admin.put(`/broadcast_messages/${id}`, { message: 'b' }),
    lock: lockBroadcastMessage,
  },
  'DELETE /broadcast_messages/:id': {
    change: (admin, id) => admin.delete(`/broadcast_messages/${id}`),
    lock: lockBroadcastMessage,
  },
  'POST /features/:name': {
    change: (admin) => admin.post(`/features/${feature}`, { value: 'true' }),
    lock: (tx) => lockFeature(tx, feature),
  },
}

describe('403 to an administrator who was demoted while the request waited', () => {
  test.for(Object.keys(ofUsers))('by %s', async (name, { world }) => {
    const [admin, user] = [await world.user({ admin: true }), await world.user()]
    const answer = await answerDuring(
      world,
      () => ofUsers[name]!(admin, `/users/${user.id}`),
      () => world.root.put(`/users/${admin.id}`, { admin: false }),
      (tx) => lockRow(tx, 'users', user.id),
    )
    expect(answer.status).toBe(403)
  })

  test.for(Object.keys(ofInstance))('by %s', async (name, { world }) => {
    const admin = await world.user({ admin: true })
    const { id } = (await world.root.post('/broadcast_messages', { message: 'a' })).json
    const { change, lock } = ofInstance[name]!
    const answer = await answerDuring(
      world,
      () => change(admin, id),
      () => world.root.put(`/users/${admin.id}`, { admin: false }),
      (tx) => lock(tx, id),
    )
    await world.root.delete(`/broadcast_messages/${id}`)
    expect(answer.status).toBe(403)
  })
})

test('401 to the revocation of a token by one that was itself revoked meanwhile', async ({ world }) => {
  const ann = await world.user()
  const second = await world.as(ann as { id: number; username: string })
  const [mine, other] = [
    await second.get('/personal_access_tokens/self'),
    await ann.get('/personal_access_tokens/self'),
  ]
  const answer = await answerDuring(
    world,
    () => second.delete(`/personal_access_tokens/${other.json.id}`),
    () => world.root.delete(`/personal_access_tokens/${mine.json.id}`),
    (tx) => lockRow(tx, 'access_tokens', other.json.id),
  )
  expect(answer.status).toBe(401)
  expect((await ann.get('/user')).status).toBe(200)
})

type OfAccount = (who: Client, id: number) => Promise<Answer>

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
