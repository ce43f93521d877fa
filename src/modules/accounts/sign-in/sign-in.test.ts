import { describe, expect } from 'vitest'
import {
  addEndedSignInFailures,
  bringFailuresNearLimit,
  demandTwoFactorSince,
  endedSignInFailures,
  endSignInFailures,
} from '../../../../test/tables/sign-in.ts'
import { type TestProject, test, unique, type World } from '../../../../test/world.ts'
import { lfs } from '../../pushes/large-files/testing.ts'
import { password, withTwoFactor } from '../two-factor/testing.ts'

let lastAddress = 0
/** An address without failed attempts. */
const freshAddress = () => `198.51.100.${++lastAddress}`

const basic = (username: string, secret: string) => `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`

async function fetchAs(world: World, project: TestProject, username: string, secret: string, address = freshAddress()) {
  return world.anonymous.get(`//${project.full_path}.git/info/refs?service=git-upload-pack`, {
    headers: { authorization: basic(username, secret), 'x-forwarded-for': address },
  })
}

const oauth = (world: World, username: string, secret: string, address: string) =>
  world.anonymous.send('POST', '//oauth/token', {
    json: { grant_type: 'password', username, password: secret },
    headers: { 'x-forwarded-for': address },
  })

const askForToken = `HTTP Basic: Access denied
You must use a personal access token with 'read_repository' or 'write_repository' scope for Git over HTTP.`

describe('passwords', () => {
  test('a sign-in is recorded for its user only', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    expect((await oauth(world, ann.username, password, freshAddress())).status).toBe(200)
    const signedIn = async ({ id }: { id: number }) => (await world.root.get(`/users/${id}`)).json.current_sign_in_at
    expect([await signedIn(ann), await signedIn(bob)]).toEqual([expect.any(String), null])
  })

  test('git refuses the password of a user with 2FA and accepts their tokens', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    expect((await fetchAs(world, project, ann.username, password)).status).toBe(200)
    await withTwoFactor(world, ann)
    const refused = await fetchAs(world, project, ann.username, password)
    expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Basic realm="Stithy"' } })
    expect(refused.text).toContain(askForToken)
    expect((await fetchAs(world, project, ann.username, ann.token!)).status).toBe(200)
    const headers = { authorization: basic(ann.username, password) }
    expect((await lfs(world.anonymous, project, 'GET', 'locks', { headers })).status).toBe(401)
  })

  test('git refuses passwords when they are disabled for git', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    await world.settings({ password_authentication_enabled_for_git: false })
    const refused = await fetchAs(world, project, ann.username, password)
    expect(refused.status).toBe(401)
    expect(refused.text).toContain(askForToken)
    expect((await oauth(world, ann.username, password, freshAddress())).status).toBe(200)
  })

  test('the grace period of a user who is required to use 2FA goes on when another user enables it', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const status = async () => (await oauth(world, ann.username, password, freshAddress())).status
    await world.settings({ require_two_factor_authentication: true, two_factor_grace_period: 2 })
    for (const { username } of [ann, bob])
      expect((await oauth(world, username, password, freshAddress())).status).toBe(200)
    await demandTwoFactorSince(world, ann.id, '121 minutes')
    expect(await status()).toBe(400)
    await withTwoFactor(world, bob)
    expect(await status()).toBe(400)
  })

  test('users required to use 2FA sign in by password until their grace period ends', async ({ world }) => {
    const ann = await world.user()
    const address = freshAddress()
    const status = async () => (await oauth(world, ann.username, password, address)).status
    await world.settings({ require_two_factor_authentication: true, two_factor_grace_period: 2 })
    expect(await status()).toBe(200)
    await demandTwoFactorSince(world, ann.id, '119 minutes')
    expect(await status()).toBe(200)
    await demandTwoFactorSince(world, ann.id, '121 minutes')
    expect(await status()).toBe(400)
    await world.settings({ two_factor_grace_period: 2_147_483_647 })
    expect(await status()).toBe(200)
    await world.settings({ two_factor_grace_period: 2 })
    const device = await withTwoFactor(world, ann)
    const withCode = await world.anonymous.send('POST', '//oauth/token', {
      json: { grant_type: 'password', username: ann.username, password },
      headers: { 'x-gitlab-otp': device.code() },
    })
    expect(withCode.status).toBe(200)
  })

  test('a grace period begins anew when 2FA is required again', async ({ world }) => {
    const ann = await world.user()
    const address = freshAddress()
    const status = async () => (await oauth(world, ann.username, password, address)).status
    const required = { require_two_factor_authentication: true, two_factor_grace_period: 2 }
    await world.settings(required)
    expect(await status()).toBe(200)
    await demandTwoFactorSince(world, ann.id, '1 year')
    await world.settings({ require_two_factor_authentication: false })
    expect(await status()).toBe(200)
    await world.settings(required)
    expect(await status()).toBe(200)
  })

  test('members of a group or subgroup that requires 2FA need it after the grace period', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const top = await world.group({ require_two_factor_authentication: true, two_factor_grace_period: 0 })
    await world.group({ parent: top, members: [[ann, 'guest']] })
    const statuses = async () =>
      Promise.all(
        [ann, bob].map(async ({ username }) => (await oauth(world, username, password, freshAddress())).status),
      )
    expect(await statuses()).toEqual([400, 200])
    await world.root.put(`/groups/${top.id}`, { two_factor_grace_period: 24 })
    expect(await statuses()).toEqual([200, 200])
  })
})

describe('failed sign-ins', () => {
  test('300 concurrent sign-ins of an address cost no more password checks than the limit', async ({ world }) => {
    const project = await world.project()
    const address = freshAddress()
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, n) => fetchAs(world, project, `${unique('guess')}-${n}`, 'wrong', address)),
    )
    const count = (status: number) => answers.filter((answer) => answer.status === status).length
    expect(count(401)).toBeLessThanOrEqual(100)
    expect(count(401) + count(429)).toBe(300)
    expect((await fetchAs(world, project, 'other', 'wrong')).status).toBe(401)
  })

  test('failed sign-ins count over all transports, and the right password is refused after ten', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    for (let attempt = 0; attempt < 5; attempt++) {
      expect((await fetchAs(world, project, ann.username, 'guess')).status).toBe(401)
      expect((await oauth(world, `${ann.username}@example.com`, 'guess', freshAddress())).status).toBe(400)
    }
    const refused = await fetchAs(world, project, ann.username, password)
    expect(refused).toMatchObject({ status: 429, text: 'Too many failed attempts. Try again later.\n' })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await oauth(world, ann.username, password, freshAddress())).status).toBe(429)
    expect((await fetchAs(world, project, ann.username, ann.token!)).status, 'a token').toBe(200)
    const bob = await world.user()
    expect((await oauth(world, bob.username, password, freshAddress())).status, 'another account').toBe(200)
    await endSignInFailures(world)
    expect((await fetchAs(world, project, ann.username, password)).status).toBe(200)
  })

  test('a successful sign-in resets the failures of the account', async ({ world }) => {
    const ann = await world.user()
    const address = freshAddress()
    for (let round = 0; round < 2; round++) {
      for (let attempt = 0; attempt < 9; attempt++) await oauth(world, ann.username, 'guess', address)
      expect((await oauth(world, ann.username, password, address)).status).toBe(200)
    }
  })

  test('failed sign-ins look the same for existing and missing accounts', async ({ world }) => {
    const [ann, absent] = [(await world.user()).username, unique('missing')]
    for (let attempt = 0; attempt < 11; attempt++) {
      const [there, missing] = [
        await oauth(world, ann, 'guess', freshAddress()),
        await oauth(world, absent, 'guess', freshAddress()),
      ]
      expect([missing.status, missing.json]).toEqual([there.status, there.json])
    }
  })

  test('a failed sign-in is recorded, also when its login is cut within an emoji', async ({ world }) => {
    const project = await world.project()
    const login = `${'a'.repeat(254)}😀`
    expect((await fetchAs(world, project, login, 'wrong')).status).toBe(401)
    expect((await oauth(world, login, 'wrong', freshAddress())).status).toBe(400)
    expect((await oauth(world, '\ud800', 'wrong', freshAddress())).status).toBe(400)
  })

  test('failed sign-ins count by address for all accounts, an IPv6 network as one', async ({ world }) => {
    const ann = await world.user()
    await oauth(world, unique('missing'), 'guess', '2001:db8:0:7::1')
    await bringFailuresNearLimit(world)
    await oauth(world, unique('missing'), 'guess', '2001:db8:0:7::2')
    expect((await oauth(world, ann.username, password, '2001:db8:0:7:ffff::3')).status).toBe(429)
    expect((await oauth(world, ann.username, password, '2001:db8:0:8::1')).status).toBe(200)
  })

  test('concurrent failed sign-ins are all counted', async ({ world }) => {
    const ann = await world.user()
    await Promise.all(Array.from({ length: 20 }, (_, n) => oauth(world, ann.username, `guess ${n}`, freshAddress())))
    expect((await oauth(world, ann.username, password, freshAddress())).status).toBe(429)
  })

  test('expired failure counts are removed by later sign-ins', async ({ world }) => {
    await addEndedSignInFailures(world, 30)
    for (let attempt = 0; attempt < 2; attempt++) await oauth(world, unique('missing'), 'guess', freshAddress())
    expect(await endedSignInFailures(world)).toHaveLength(0)
  })
})
