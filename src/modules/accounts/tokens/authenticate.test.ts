import { expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { Notifications } from '../../../db/notifications.ts'
import { maximumAgeMs, TokenAuthenticator } from './authenticate.ts'

test('a revocation holds within a second, even when the notification is lost', async ({ world }) => {
  let now = 1_000
  const deaf = new Notifications(world.databaseUrl)
  const authenticator = new TokenAuthenticator(world.db, deaf, { impersonation: true }, () => now)
  const ann = await world.user()
  expect(await authenticator.authenticate(ann.token!)).toMatchObject({ actor: { id: ann.id } })
  await ann.delete('/personal_access_tokens/self')
  expect(await authenticator.authenticate(ann.token!), 'cached').toMatchObject({ actor: { id: ann.id } })
  now += 999
  // The cache reads the clock a few times in a second.
  await expect.poll(() => authenticator.authenticate(ann.token!)).toEqual({ refused: 'revoked' })
  expect(maximumAgeMs).toBeLessThan(1_000)
})
