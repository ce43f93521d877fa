import { expect } from 'vitest'
import { lockRow } from '../../../../test/tables/instance.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { test } from '../../../../test/world.ts'
import { shareKeyOf } from '../../../access/share-key.ts'
import { Notifications } from '../../../db/notifications.ts'
import { maximumAgeMs, TokenAuthenticator } from './authenticate.ts'
import { touchCredential } from './queries.ts'

test('a revoked token is refused within a second even if the notification is lost', async ({ world }) => {
  let now = 1_000
  const deaf = new Notifications(world.databaseUrl)
  const authenticator = new TokenAuthenticator(world.db, deaf, { impersonation: true }, () => now)
  const ann = await world.user()
  expect(await authenticator.authenticate(ann.token!)).toMatchObject({ actor: { id: ann.id } })
  await ann.delete('/personal_access_tokens/self')
  expect(await authenticator.authenticate(ann.token!), 'cached').toMatchObject({ actor: { id: ann.id } })
  now += 999
  // The cache reads the clock a few times per second.
  await expect.poll(() => authenticator.authenticate(ann.token!)).toEqual({ refused: 'revoked' })
  expect(maximumAgeMs).toBeLessThan(1_000)
})

test('a use is recorded without a wait for changes of the token or of the account', async ({ world }) => {
  const ann = await world.user()
  const { id } = (await world.root.post(`/users/${ann.id}/personal_access_tokens`, { name: 'unused', scopes: ['api'] }))
    .json
  const used = async () => (await ann.get(`/personal_access_tokens/${id}`)).json.last_used_at
  const use = () => touchCredential(world.db, 'access_tokens', id)
  await world.db.transaction(async (tx) => {
    await lockRow(tx, 'access_tokens', id)
    await use()
  })
  expect(await used()).toBe(null)
  await changeUser(world, ann.id, { last_activity_on: null })
  await world.db.transaction(async (tx) => {
    await lockRow(tx, 'users', ann.id)
    await use()
  })
  expect(await used()).toEqual(expect.any(String))
})

test('what was derived from an impersonation token is refused while impersonation is off', async ({ world }) => {
  const ann = await world.user()
  const made = await world.root.post(`/users/${ann.id}/impersonation_tokens`, { name: 'test', scopes: ['api'] })
  expect(made.status).toBe(201)
  const credential = { userId: ann.id, tokenId: made.json.id }
  const derived = async (impersonation: boolean) =>
    new TokenAuthenticator(world.db, new Notifications(world.databaseUrl), { impersonation }).authenticateDerived(
      credential,
    )
  expect(await derived(true)).toMatchObject({ actor: { id: ann.id } })
  expect(await derived(false)).toEqual({ refused: 'impersonation_off' })
})

test('all project tokens of a user use the share of that user', async ({ world }) => {
  const authenticator = new TokenAuthenticator(world.db, new Notifications(world.databaseUrl), { impersonation: true })
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'maintainer']] })
  const keys = new Set<string>()
  for (const name of ['one', 'two']) {
    const made = await ann.post(`/projects/${project.id}/access_tokens`, { name, scopes: ['api'], access_level: 30 })
    expect(made.status).toBe(201)
    const shown = await authenticator.authenticate(made.json.token)
    keys.add('actor' in shown ? shareKeyOf(shown.actor, undefined) : shown.refused)
  }
  expect([...keys]).toEqual([`user ${ann.id}`])
})
