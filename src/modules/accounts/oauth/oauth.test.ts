import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { lockRow } from '../../../../test/tables/instance.ts'
import { ago, now } from '../../../../test/tables/statements.ts'
import { endOauthTokens, tokenDigests } from '../../../../test/tables/tokens.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { type Answer, type Client, git, temporaryFolder, test, type World } from '../../../../test/world.ts'
import { usableTokens, waitForWaiting, whileLocked } from '../tokens/testing.ts'
import { atOneMoment, codeAt, password, withTwoFactor } from '../two-factor/testing.ts'
import { moveState } from '../users/state-queries.ts'
import { purgeEndedOauthTokens } from './jobs.ts'

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

const token = (world: World, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> =>
  world.anonymous.send('POST', '//oauth/token', {
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: form(fields),
  })

const byPassword = (world: World, who: Client, more: Record<string, string> = {}, headers = {}) =>
  token(world, { grant_type: 'password', username: who.username, password, ...more }, headers)

const refresh = (world: World, refreshToken: string, more: Record<string, string> = {}) =>
  token(world, { grant_type: 'refresh_token', refresh_token: refreshToken, ...more })

const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } })
const answers = async (world: World, secret: string) => (await world.anonymous.get('/user', bearer(secret))).status

describe('POST /oauth/token', () => {
  test('the password grant returns tokens in an uncacheable response and stores digests only', async ({ world }) => {
    const ann = await world.user()
    const made = await byPassword(world, ann)
    expect(made.status).toBe(200)
    expect(made.json).toEqual({
      access_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      token_type: 'Bearer',
      expires_in: 7200,
      refresh_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      scope: 'api',
      created_at: expect.any(Number),
    })
    expect(made.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    expect((await world.anonymous.get('/user', bearer(made.json.access_token))).json.id).toBe(ann.id)
    expect((await world.anonymous.get(`/user?access_token=${made.json.access_token}`)).json.id).toBe(ann.id)
    expect((await ann.get('/personal_access_tokens')).json, 'is no personal token').toHaveLength(1)
    const [row] = await tokenDigests(world, ann.id, 'oauth')
    for (const kept of [row.digest, row.refresh_digest]) expect(kept).toHaveLength(32)
  })

  test('the password grant accepts JSON and an e-mail address', async ({ world }) => {
    const ann = await world.user()
    const json = { grant_type: 'password', username: `${ann.username}@example.com`, password, scope: 'read_user' }
    expect((await world.anonymous.send('POST', '//oauth/token', { json })).json).toMatchObject({ scope: 'read_user' })
  })

  test('an OAuth token authenticates git as the user oauth2', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'maintainer']] })
    await using folder = await temporaryFolder()
    const { access_token } = (await byPassword(world, ann)).json
    const at = new URL(project.url)
    at.username = 'oauth2'
    at.password = access_token
    await git(folder.path, 'init', '-q', '-b', 'main')
    await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'first')
    await git(folder.path, 'push', '-q', at.toString(), 'main')
    expect(await git(folder.path, 'ls-remote', at.toString())).toContain('refs/heads/main')
  })

  test.for([
    [{}, 400, 'invalid_request', 'Missing required parameter: grant_type.'],
    [{ grant_type: 'password', username: 'x' }, 400, 'invalid_request', 'Missing required parameter: password.'],
    [{ grant_type: 'refresh_token' }, 400, 'invalid_request', 'Missing required parameter: refresh_token.'],
    [{ grant_type: 'client_credentials' }, 400, 'unsupported_grant_type', undefined],
    [{ grant_type: 'password', username: 'no-such-user', password: 'x' }, 400, 'invalid_grant', undefined],
    [{ grant_type: 'password', username: 'no\0body', password: 'x' }, 400, 'invalid_grant', undefined],
    [{ grant_type: 'refresh_token', refresh_token: 'x' }, 400, 'invalid_grant', undefined],
    [{ grant_type: 'password', username: 'x', password: 'x', client_id: 'x' }, 401, 'invalid_client', undefined],
  ] as const)('RFC 6749 error for %j', async ([fields, status, error, description], { world }) => {
    const answer = await token(world, fields as Record<string, string>)
    expect(answer).toMatchObject({ status, json: { error, error_description: description ?? expect.any(String) } })
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('the password grant refuses unknown scopes, and sudo for users other than administrators', async ({ world }) => {
    const ann = await world.user()
    for (const scope of ['everything', 'api sudo'])
      expect((await byPassword(world, ann, { scope })).json, scope).toMatchObject({ error: 'invalid_scope' })
    const { access_token } = (await byPassword(world, ann, { scope: 'read_user read_repository' })).json
    expect(await answers(world, access_token)).toBe(200)
    expect((await world.anonymous.get('/projects', bearer(access_token))).status).toBe(403)
  })

  test('a scope that is no text is refused, and does not give the default scope', async ({ world }) => {
    const ann = await world.user()
    const { refresh_token } = (await byPassword(world, ann)).json
    const grants = [
      { grant_type: 'password', username: ann.username, password },
      { grant_type: 'refresh_token', refresh_token },
    ]
    for (const grant of grants)
      expect(
        await world.anonymous.send('POST', '//oauth/token', { json: { ...grant, scope: ['read_user'] } }),
      ).toMatchObject({ status: 400, json: { error: 'invalid_scope' } })
  })

  test('the password grant refuses blocked users, and all users when passwords are disabled', async ({ world }) => {
    const ann = await world.user()
    const { access_token, refresh_token } = (await byPassword(world, ann)).json
    await changeUser(world, ann.id, { state: 'blocked' })
    expect((await byPassword(world, ann)).json.error).toBe('invalid_grant')
    expect((await refresh(world, refresh_token)).json.error).toBe('invalid_grant')
    await expect.poll(() => answers(world, access_token)).toBe(403)
    const bob = await world.user()
    await world.settings({ password_authentication_enabled_for_web: false })
    expect((await byPassword(world, bob)).json.error).toBe('invalid_grant')
  })

  test('with 2FA the password grant accepts each code and recovery code once', async ({ world }) => {
    const ann = await world.user()
    const device = await withTwoFactor(world, ann)
    const without = await byPassword(world, ann)
    expect(without).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
    expect(without.headers['x-gitlab-otp']).toBe('required; app')
    const code = device.code()
    const withCode = (header: string, value: string) => byPassword(world, ann, {}, { [header]: value })
    expect((await withCode('X-GitLab-OTP', code)).status).toBe(200)
    expect((await withCode('X-GitLab-OTP', code)).status).toBe(400)
    expect((await withCode('X-Service-OTP', device.code())).status).toBe(200)
    const [recovery] = device.recoveryCodes
    const unknown = await byPassword(world, ann, { scope: 'everything' }, { 'X-GitLab-OTP': recovery! })
    expect(unknown.json.error).toBe('invalid_scope')
    expect((await withCode('X-GitLab-OTP', recovery!)).status).toBe(200)
    expect((await withCode('X-GitLab-OTP', recovery!)).status).toBe(400)
    const raced = await Promise.all(Array.from({ length: 4 }, () => withCode('X-GitLab-OTP', device.recoveryCodes[1]!)))
    expect(raced.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})

describe('refresh tokens', () => {
  test('a refresh token returns a new pair and revokes the old one', async ({ world }) => {
    const ann = await world.user()
    const first = (await byPassword(world, ann, { scope: 'read_user' })).json
    const second = (await refresh(world, first.refresh_token)).json
    expect(second).toMatchObject({ scope: 'read_user', expires_in: 7200 })
    expect(await answers(world, second.access_token)).toBe(200)
    await expect.poll(() => answers(world, first.access_token)).toBe(401)
  })

  test('reuse of a refresh token revokes its whole family', async ({ world }) => {
    const ann = await world.user()
    const first = (await byPassword(world, ann)).json
    const second = (await refresh(world, first.refresh_token)).json
    const apart = (await byPassword(world, ann)).json
    expect((await refresh(world, first.refresh_token)).json.error).toBe('invalid_grant')
    await expect.poll(() => answers(world, second.access_token)).toBe(401)
    expect((await refresh(world, second.refresh_token)).json.error).toBe('invalid_grant')
    expect(await answers(world, apart.access_token)).toBe(200)
  })

  test('reuse of a refresh token during the refresh of its successor revokes the family', async ({ world }) => {
    const ann = await world.user()
    const first = (await byPassword(world, ann)).json
    const second = (await refresh(world, first.refresh_token)).json
    // Delays the refresh of the second token, so that the reuse of the first happens during it.
    const [next, again] = await whileLocked(world, second.refresh_token, async () => {
      const next = refresh(world, second.refresh_token)
      await waitForWaiting(world, 1)
      const again = refresh(world, first.refresh_token)
      await waitForWaiting(world, 2)
      return [next, again]
    })
    const third = (await next).json
    expect((await again).json.error).toBe('invalid_grant')
    expect(await usableTokens(world, ann.id, 'oauth')).toBe(0)
    expect((await refresh(world, third.refresh_token)).json.error).toBe('invalid_grant')
  })

  test('a refresh token revoked during its refresh leaves no valid token', async ({ world }) => {
    const ann = await world.user()
    const first = (await byPassword(world, ann)).json
    const [next, revoked] = await whileLocked(world, first.refresh_token, async () => {
      const next = refresh(world, first.refresh_token)
      await waitForWaiting(world, 1)
      const revoked = world.anonymous.send('POST', '//oauth/revoke', { json: { token: first.refresh_token } })
      await waitForWaiting(world, 2)
      return [next, revoked]
    })
    expect([(await next).status, (await revoked).status]).toEqual([200, 200])
    expect(await usableTokens(world, ann.id, 'oauth')).toBe(0)
  })

  test('concurrent uses of a refresh token return one pair, which is then revoked', async ({ world }) => {
    const ann = await world.user()
    for (let round = 0; round < 5; round++) {
      const { refresh_token } = (await byPassword(world, ann)).json
      const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(world, refresh_token)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(400)])
      expect(await usableTokens(world, ann.id, 'oauth')).toBe(0)
    }
  })

  test('a new password of the account revokes all its OAuth tokens, also one that is refreshed meanwhile', async ({
    world,
  }) => {
    const ann = await world.user()
    const first = (await byPassword(world, ann)).json
    const second = (await byPassword(world, ann)).json
    const [next, changed] = await whileLocked(world, second.refresh_token, async () => {
      const next = refresh(world, second.refresh_token)
      await waitForWaiting(world, 1)
      const changed = world.root.put(`/users/${ann.id}`, { password: `new ${password}` })
      await waitForWaiting(world, 2)
      return [next, changed]
    })
    expect([(await next).status, (await changed).status]).toEqual([200, 200])
    expect(await usableTokens(world, ann.id, 'oauth')).toBe(0)
    expect((await refresh(world, first.refresh_token)).json.error).toBe('invalid_grant')
    await expect.poll(() => answers(world, first.access_token)).toBe(401)
    expect((await ann.get('/user')).status, 'with a personal access token').toBe(200)
  })

  test('no token is issued by a password alone to a user who enables a second factor meanwhile', async ({ world }) => {
    const ann = await world.user()
    const { secret } = (await ann.post('/user/two_factor', { password })).json
    const sent = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'users', ann.id, 'no key update')
      const waiting = byPassword(world, ann)
      await waitForWaiting(world, 1)
      const enabled = await atOneMoment((now) => ann.post('/user/two_factor/confirm', { code: codeAt(secret, now) }))
      expect(enabled.status).toBe(201)
      return { waiting }
    })
    const refused = await sent.waiting
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(await usableTokens(world, ann.id, 'oauth')).toBe(0)
  })

  test('no token is issued to a user who is blocked meanwhile', async ({ world }) => {
    const ann = await world.user()
    const sent = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'users', ann.id, 'no key update')
      const waiting = byPassword(world, ann)
      await waitForWaiting(world, 1)
      await moveState(tx, ann.id, ['active'], 'blocked')
      return { waiting }
    })
    expect((await sent.waiting).json.error).toBe('invalid_grant')
    expect(await usableTokens(world, ann.id, 'oauth')).toBe(0)
  })

  test('a refresh token never widens scopes, and expires after sixty days', async ({ world }) => {
    const ann = await world.user()
    const made = (await byPassword(world, ann, { scope: 'read_user read_api' })).json
    expect((await refresh(world, made.refresh_token, { scope: 'api' })).json.error).toBe('invalid_scope')
    const narrowed = (await refresh(world, made.refresh_token, { scope: 'read_user' })).json
    expect(narrowed.scope).toBe('read_user')
    await endOauthTokens(world, ann.id, ago('59 days'))
    const next = (await refresh(world, narrowed.refresh_token)).json
    await endOauthTokens(world, ann.id, ago('61 days'))
    expect((await refresh(world, next.refresh_token)).json.error).toBe('invalid_grant')
  })
})

describe('OAuth tokens', () => {
  test('401 with an expired OAuth token', async ({ world }) => {
    const ann = await world.user()
    const { access_token } = (await byPassword(world, ann)).json
    await endOauthTokens(world, ann.id, now)
    expect((await world.anonymous.get('/user', bearer(access_token))).json).toMatchObject({
      error: 'invalid_token',
      error_description: 'Token is expired. You can either do re-authorization or token refresh.',
    })
  })

  test('a job deletes OAuth tokens that can no longer be refreshed, and no others', async ({ world }) => {
    const [ann, ben] = [await world.user(), await world.user()]
    await byPassword(world, ann)
    const { refresh_token } = (await byPassword(world, ben)).json
    await endOauthTokens(world, ann.id, ago('61 days'))
    await endOauthTokens(world, ben.id, ago('59 days'))
    await purgeEndedOauthTokens.run({}, await contextFor(world, null))
    expect(await tokenDigests(world, ann.id, 'oauth')).toEqual([])
    expect((await refresh(world, refresh_token)).status).toBe(200)
    for (const who of [ann, ben]) expect((await who.get('/user')).status).toBe(200)
  })

  test('GET /oauth/token/info describes the OAuth token', async ({ world }) => {
    const ann = await world.user()
    const { access_token, created_at } = (await byPassword(world, ann)).json
    const info = await world.anonymous.get('//oauth/token/info', bearer(access_token))
    expect(info).toMatchObject({
      status: 200,
      json: { resource_owner_id: ann.id, scope: ['api'], scopes: ['api'], application: { uid: null }, created_at },
    })
    expect(info.json.expires_in).toBeGreaterThan(0)
    expect(info.json.expires_in).toBeLessThanOrEqual(7200)
    for (const shown of [{}, bearer('x'), bearer(ann.token!)])
      expect((await world.anonymous.get('//oauth/token/info', shown)).status).toBe(401)
  })

  test('429 for GET /oauth/token/info above the limits, so that tokens cannot be guessed there', async ({ world }) => {
    const ann = await world.user()
    const { access_token } = (await byPassword(world, ann)).json
    const limit = { requests_per_period: 2, period_in_seconds: 100_000, enabled: true }
    const limits = ['throttle_unauthenticated', 'throttle_authenticated_web'].flatMap((name) =>
      Object.entries(limit).map(([key, value]) => [`${name}_${key}`, value]),
    )
    await world.settings(Object.fromEntries(limits))
    const ask = async (token: string) => {
      const headers = { ...bearer(token).headers, 'x-forwarded-for': '192.0.2.77' }
      return (await world.anonymous.get('//oauth/token/info', { headers })).status
    }
    expect([await ask('a'), await ask('b'), await ask('c')]).toEqual([401, 401, 429])
    const known = [await ask(access_token), await ask(access_token), await ask(access_token)]
    expect(known).toEqual([200, 200, 429])
  })

  test('revoking either token of a pair revokes both, and unknown tokens get the same 200', async ({ world }) => {
    const ann = await world.user()
    const revoke = (secret: string) => world.anonymous.send('POST', '//oauth/revoke', { json: { token: secret } })
    for (const kind of ['access_token', 'refresh_token']) {
      const pair = (await byPassword(world, ann)).json
      expect(await revoke(pair[kind])).toMatchObject({ status: 200, json: {} })
      await expect.poll(() => answers(world, pair.access_token)).toBe(401)
      expect((await refresh(world, pair.refresh_token)).json.error).toBe('invalid_grant')
    }
    expect(await revoke('nothing')).toMatchObject({ status: 200, json: {} })
    expect((await revoke(ann.token!)).status).toBe(200)
    expect(await answers(world, ann.token!)).toBe(200)
  })
})
