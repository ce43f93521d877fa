import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { type TestProject, test, unique, type World } from '../../../../test/world.ts'
import { lfs } from '../../pushes/large-files/testing.ts'
import { password, withTwoFactor } from '../two-factor/testing.ts'
import { authenticateSession, closeSession, openSession } from './sessions.ts'

let lastAddress = 0
/** An address that nothing failed at yet. */
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
  test('are no longer taken by git from whoever has a second factor; tokens are', async ({ world }) => {
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

  test('are not taken by git where they are switched off', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    await world.settings({ password_authentication_enabled_for_git: false })
    const refused = await fetchAs(world, project, ann.username, password)
    expect(refused.status).toBe(401)
    expect(refused.text).toContain(askForToken)
    expect((await oauth(world, ann.username, password, freshAddress())).status).toBe(200)
  })

  test('are taken of whoever needs a second factor until his time to set one up is over', async ({ world }) => {
    const ann = await world.user()
    const address = freshAddress()
    const status = async () => (await oauth(world, ann.username, password, address)).status
    await world.settings({ require_two_factor_authentication: true, two_factor_grace_period: 2 })
    expect(await status()).toBe(200)
    await world.rows(`update two_factor_demands set since = now() - interval '119 minutes' where user_id = $1`, [
      ann.id,
    ])
    expect(await status()).toBe(200)
    await world.rows(`update two_factor_demands set since = now() - interval '121 minutes' where user_id = $1`, [
      ann.id,
    ])
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

  test('so, too, of members of a group that demands it, or of one below', async ({ world }) => {
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

describe('failed attempts', () => {
  test('of three hundred clients at one address at once cost no more password checks than the limit', async ({
    world,
  }) => {
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

  test('of an account count at all doors together; after ten, even what is right is refused', async ({ world }) => {
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
    await world.rows(`update sign_in_failures set ends_at = now()`)
    expect((await fetchAs(world, project, ann.username, password)).status).toBe(200)
  })

  test('are forgotten by whoever signs in', async ({ world }) => {
    const ann = await world.user()
    const address = freshAddress()
    for (let round = 0; round < 2; round++) {
      for (let attempt = 0; attempt < 9; attempt++) await oauth(world, ann.username, 'guess', address)
      expect((await oauth(world, ann.username, password, address)).status).toBe(200)
    }
  })

  test('look the same whether there is such an account', async ({ world }) => {
    const [ann, nobody] = [(await world.user()).username, unique('nobody')]
    for (let attempt = 0; attempt < 11; attempt++) {
      const [there, missing] = [
        await oauth(world, ann, 'guess', freshAddress()),
        await oauth(world, nobody, 'guess', freshAddress()),
      ]
      expect([missing.status, missing.json]).toEqual([there.status, there.json])
    }
  })

  test('at an address count whoever is named, an IPv6 network as one', async ({ world }) => {
    const ann = await world.user()
    await oauth(world, unique('nobody'), 'guess', '2001:db8:0:7::1')
    await world.rows(`update sign_in_failures set failures = 99 where failures = 1 and ends_at > now() and key in (
      select key from sign_in_failures where ends_at > now() order by ends_at desc limit 2)`)
    await oauth(world, unique('nobody'), 'guess', '2001:db8:0:7::2')
    expect((await oauth(world, ann.username, password, '2001:db8:0:7:ffff::3')).status).toBe(429)
    expect((await oauth(world, ann.username, password, '2001:db8:0:8::1')).status).toBe(200)
  })

  test('count, too, when they come at once', async ({ world }) => {
    const ann = await world.user()
    await Promise.all(Array.from({ length: 20 }, (_, n) => oauth(world, ann.username, `guess ${n}`, freshAddress())))
    expect((await oauth(world, ann.username, password, freshAddress())).status).toBe(429)
  })

  test('that ended are cleared away by those that come', async ({ world }) => {
    await world.rows(`insert into sign_in_failures (key, failures, ends_at)
      select decode(md5(n::text), 'hex'), 1, now() - interval '1 hour' from generate_series(1, 30) n`)
    for (let attempt = 0; attempt < 2; attempt++) await oauth(world, unique('nobody'), 'guess', freshAddress())
    expect(await world.rows('select from sign_in_failures where ends_at <= now()')).toHaveLength(0)
  })
})

describe('a session', () => {
  const opened = async (world: World) => {
    const ann = await world.user()
    const ctx = await contextFor(world, null)
    const secret = await openSession(ctx, ann.id, { userAgent: 'a browser' })
    const known = async () => {
      const found = await authenticateSession(await contextFor(world, null), secret)
      return 'actor' in found ? found.actor.id : found.refused
    }
    return { ann, ctx, secret, known }
  }

  test('knows who signed in, until he signs out', async ({ world }) => {
    const { ann, ctx, secret, known } = await opened(world)
    expect(await known()).toBe(ann.id)
    expect(await authenticateSession(ctx, 'another')).toEqual({ refused: 'unknown' })
    const rows = await world.rows('select digest from sessions where user_id = $1', [ann.id])
    expect(rows[0].digest.toString('base64url')).not.toBe(secret)
    await closeSession(ctx, secret)
    expect(await known()).toBe('unknown')
  })

  test('ends when nobody used it for as long as the installation says; use prolongs it', async ({ world }) => {
    const { ann, known } = await opened(world)
    await world.settings({ session_expire_delay: 60 })
    const unusedFor = (minutes: number) =>
      world.rows(`update sessions set last_seen_at = now() - make_interval(mins => $2) where user_id = $1`, [
        ann.id,
        minutes,
      ])
    await unusedFor(59)
    expect(await known()).toBe(ann.id)
    const [row] = await world.rows(
      `select last_seen_at > now() - interval '1 minute' as seen from sessions where user_id = $1`,
      [ann.id],
    )
    expect(row.seen).toBe(true)
    await unusedFor(60)
    expect(await known()).toBe('unknown')
  })

  test.for([
    ['a new password', `password_digest = 'other'`],
    ['blocking', `state = 'blocked'`],
    ['deactivation', `state = 'deactivated'`],
  ] as const)('ends with %s of the account', async ([, change], { world }) => {
    const { ann, known } = await opened(world)
    await world.rows(`update users set name = 'Other' where id = $1`, [ann.id])
    expect(await known()).toBe(ann.id)
    await world.rows(`update users set ${change} where id = $1`, [ann.id])
    expect(await known()).toBe('unknown')
  })
})
