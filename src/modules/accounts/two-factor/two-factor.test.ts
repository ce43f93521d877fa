import { describe, expect, test as plain } from 'vitest'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { lockTwoFactorOf, recoveryCodesOf, twoFactorOf } from '../../../../test/tables/sign-in.ts'
import { test } from '../../../../test/world.ts'
import { stepOf } from './codes.ts'
import { codeAt, password, withTwoFactor } from './testing.ts'

const wrong = { status: 400, json: { message: { code: ['is invalid'] } } }

describe('two-factor authentication', () => {
  test('2FA is active after one of its codes is confirmed', async ({ world }) => {
    const ann = await world.user()
    expect((await ann.get('/user/two_factor')).json).toEqual({
      enabled: false,
      enabled_at: null,
      recovery_codes_left: 0,
    })
    const started = await ann.post('/user/two_factor', { password })
    expect(started.json).toEqual({
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      uri: expect.stringMatching(
        new RegExp(`^otpauth://totp/Stithy:${ann.username}%40.*secret=${started.json.secret}`),
      ),
    })
    expect((await ann.get('/user')).json.two_factor_enabled).toBe(false)
    expect(await ann.post('/user/two_factor/confirm', { code: '000000' })).toMatchObject(wrong)
    const confirmed = await ann.post('/user/two_factor/confirm', { code: codeAt(started.json.secret, Date.now()) })
    expect(confirmed).toMatchObject({ status: 201, json: { recovery_codes: expect.any(Array) } })
    expect(new Set(confirmed.json.recovery_codes).size).toBe(10)
    expect((await ann.get('/user')).json.two_factor_enabled).toBe(true)
    expect((await ann.get('/user/two_factor')).json).toMatchObject({ enabled: true, recovery_codes_left: 10 })
    expect((await ann.post('/user/two_factor', { password })).status).toBe(409)
  })

  test('400 for starting 2FA without the password, so that a stolen token locks no one out', async ({ world }) => {
    const ann = await world.user()
    expect(await ann.post('/user/two_factor', { password: 'guess' })).toMatchObject({
      status: 400,
      json: { message: { password: ['is invalid'] } },
    })
    expect((await ann.post('/user/two_factor')).json).toEqual({ error: 'password is missing' })
    expect((await world.anonymous.post('/user/two_factor', { password })).status).toBe(401)
  })

  test('only the last secret counts until 2FA is active', async ({ world }) => {
    const ann = await world.user()
    const [first, second] = [
      await ann.post('/user/two_factor', { password }),
      await ann.post('/user/two_factor', { password }),
    ]
    const confirm = (secret: string) => ann.post('/user/two_factor/confirm', { code: codeAt(secret, Date.now()) })
    expect(await confirm(first.json.secret)).toMatchObject(wrong)
    expect((await confirm(second.json.secret)).status).toBe(201)
  })

  test('400 for a code that confirms 2FA before it was started, or once it is active', async ({ world }) => {
    const ann = await world.user()
    const refused = { status: 400, json: { message: expect.stringContaining('was not started') } }
    expect(await ann.post('/user/two_factor/confirm', { code: '123456' })).toMatchObject(refused)
    const { secret } = await withTwoFactor(world, ann)
    const left = async () => (await ann.get('/user/two_factor')).json
    const before = await left()
    expect(await ann.post('/user/two_factor/confirm', { code: codeAt(secret, Date.now() + 30_000) })).toMatchObject(
      refused,
    )
    expect(await left()).toEqual(before)
  })

  test('the recovery codes of a user stay when another user gets some, or disables 2FA', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    await withTwoFactor(world, ann)
    const device = await withTwoFactor(world, bob)
    const left = async () => (await ann.get('/user/two_factor')).json
    expect(await left()).toMatchObject({ enabled: true, recovery_codes_left: 10 })
    const [code] = device.recoveryCodes
    expect((await bob.delete('/user/two_factor', { json: { code } })).status).toBe(204)
    expect(await left()).toMatchObject({ enabled: true, recovery_codes_left: 10 })
  })

  test('2FA secrets and recovery codes are unreadable in the database', async ({ world }) => {
    const ann = await world.user()
    const { secret, recoveryCodes } = await withTwoFactor(world, ann)
    const [row] = await twoFactorOf(world, ann.id)
    expect(row.secret).toMatch(/^v1:/)
    expect(row.secret).not.toContain(secret)
    const digests = await recoveryCodesOf(world, ann.id)
    for (const { digest } of digests) expect(recoveryCodes).not.toContain(digest.toString('utf8'))
  })

  test('2FA is disabled with a code or recovery code, each valid once', async ({ world }) => {
    const ann = await world.user()
    const device = await withTwoFactor(world, ann)
    const end = (code: string) => ann.send('DELETE', '/user/two_factor', { json: { code } })
    expect(await end('123')).toMatchObject(wrong)
    const code = device.code()
    const renewed = await ann.post('/user/two_factor/recovery_codes', { code })
    expect(renewed.json.recovery_codes).toHaveLength(10)
    expect(await end(code), 'reused code').toMatchObject(wrong)
    expect(await end(device.recoveryCodes[0]!), 'of the codes before').toMatchObject(wrong)
    expect((await end(renewed.json.recovery_codes[0])).status).toBe(204)
    expect((await ann.get('/user')).json.two_factor_enabled).toBe(false)
    expect((await end(device.code())).status).toBe(400)
  })

  test('of two concurrent renewals, only the codes of one are valid', async ({ world }) => {
    const ann = await world.user()
    const { recoveryCodes } = await withTwoFactor(world, ann)
    const renewals = await world.db.transaction(async (tx) => {
      await lockTwoFactorOf(tx, ann.id)
      const waiting = recoveryCodes.slice(0, 2).map((code) => ann.post('/user/two_factor/recovery_codes', { code }))
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(2)
      // In an object, because the transaction must end before the requests can.
      return { waiting }
    })
    for (const { status } of await Promise.all(renewals.waiting)) expect(status).toBe(201)
    expect((await ann.get('/user/two_factor')).json.recovery_codes_left).toBe(10)
  })

  test('administrators disable 2FA of other users', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    await withTwoFactor(world, ann)
    const path = `/users/${ann.id}/disable_two_factor`
    expect((await world.anonymous.send('PATCH', path)).status).toBe(401)
    expect((await bob.send('PATCH', path)).status).toBe(403)
    expect((await world.root.send('PATCH', path)).status).toBe(204)
    expect(await world.root.put(path)).toMatchObject({
      status: 400,
      json: { message: '400 Bad request - Two-factor authentication is not enabled for this user' },
    })
    expect((await world.root.put('/users/999999999/disable_two_factor')).json).toEqual({
      message: '404 User Not Found',
    })
  })

  test('an administrator needs a code to disable their own 2FA', async ({ world }) => {
    const admin = await world.user({ admin: true })
    const device = await withTwoFactor(world, admin)
    for (const verb of ['PUT', 'PATCH'])
      expect(await admin.send(verb, `/users/${admin.id}/disable_two_factor`)).toMatchObject({
        status: 403,
        json: { message: '403 Forbidden - Your own second factor ends with a code: DELETE /user/two_factor' },
      })
    expect((await admin.delete('/user/two_factor', { json: { code: device.code() } })).status).toBe(204)
  })

  test('administrators filter users by 2FA', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    await withTwoFactor(world, ann)
    const names = async (value: string) =>
      (await world.root.get(`/users?two_factor=${value}&per_page=100`)).json.map(
        ({ username }: { username: string }) => username,
      )
    expect(await names('enabled')).toContain(ann.username)
    expect(await names('enabled')).not.toContain(bob.username)
    expect(await names('disabled')).not.toContain(ann.username)
    expect(await names('disabled')).toContain(bob.username)
  })

  test('429 after ten wrong 2FA codes', async ({ world }) => {
    const ann = await world.user()
    const device = await withTwoFactor(world, ann)
    for (let attempt = 0; attempt < 10; attempt++)
      expect((await ann.post('/user/two_factor/recovery_codes', { code: 'guess' })).status).toBe(400)
    expect((await ann.post('/user/two_factor/recovery_codes', { code: device.code() })).status).toBe(429)
  })
})

plain('2FA codes are those of RFC 6238, one time step earlier or later included', () => {
  // Appendix B, SHA-1, with six of the eight digits; the secret is '12345678901234567890'.
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  const at = 1_111_111_109_000
  const step = 37_037_036
  expect(stepOf(secret, '081804', at)).toBe(step)
  expect(stepOf(secret, '081804', at + 30_000)).toBe(step)
  expect(stepOf(secret, '081804', at - 30_000)).toBe(step)
  expect(stepOf(secret, '081804', at + 60_000)).toBeUndefined()
  expect(stepOf(secret, '081804', at - 60_000)).toBeUndefined()
  expect(stepOf(secret, '081805', at)).toBeUndefined()
})
