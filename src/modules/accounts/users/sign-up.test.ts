import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { latestMail } from '../../../../test/tables/instance.ts'
import { unique, World } from '../../../../test/world.ts'
import { follow, linksTo } from './testing.ts'

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const make = (email: string, more: Record<string, unknown> = {}) =>
  world.root.post('/users', { username: unique('new'), name: 'New', email, password: 'correct horse', ...more })

describe('restrictions of new accounts', () => {
  const outside = ['is not from an allowed domain.']
  test.for([
    [{ domain_whitelist: ['good.example', '*.better.example'] }, 'good.example', undefined],
    [{ domain_whitelist: ['good.example', '*.better.example'] }, 'GOOD.example', undefined],
    [{ domain_whitelist: ['good.example', '*.better.example'] }, 'a.better.example', undefined],
    [{ domain_whitelist: ['good.example', '*.better.example'] }, 'goodxexample', outside],
    [{ domain_whitelist: ['good.example', '*.better.example'] }, 'not.good.example', outside],
    [{ domain_blacklist: ['bad.example'] }, 'bad.example', undefined],
    [{ domain_blacklist_enabled: true, domain_blacklist: ['bad.example', '*.bad.example'] }, 'bad.example', outside],
    [{ domain_blacklist_enabled: true, domain_blacklist: ['bad.example', '*.bad.example'] }, 'a.bad.example', outside],
    [{ domain_blacklist_enabled: true, domain_blacklist: ['bad.example'] }, 'good.example', undefined],
  ] as const)('new accounts with the settings %j, @%s', async ([settings, domain, message]) => {
    await world.settings({
      domain_whitelist: [],
      domain_blacklist: [],
      domain_blacklist_enabled: false,
      ...(settings as object),
    })
    expect(await make(`${unique('a')}@${domain}`)).toMatchObject(
      message ? { status: 400, json: { message: { email: message } } } : { status: 201 },
    )
    await world.settings({ domain_whitelist: [], domain_blacklist_enabled: false })
  })

  test('email_restrictions refuses matching e-mails, in linear time, and all of them if the stored pattern cannot be used', async () => {
    const restrict = (email_restrictions: string) =>
      world.settings({ email_restrictions_enabled: true, email_restrictions })
    await restrict('\\+')
    expect(await make(`${unique('a')}+b@example.com`)).toMatchObject({
      status: 400,
      json: { message: { email: [expect.stringMatching(/^is not allowed/)] } },
    })
    expect((await make(`${unique('a')}@example.com`)).status).toBe(201)
    await restrict('(')
    expect((await make(`${unique('a')}@example.com`)).status).toBe(400)
    await restrict('^(a+)+$')
    // Backtracking would not end.
    expect((await make(`${'a'.repeat(60)}@example.com`)).status).toBe(201)
    await world.settings({ email_restrictions_enabled: false })
  })

  test('new users are external unless the internal pattern matches their e-mail', async () => {
    await world.settings({ user_default_external: true, user_default_internal_regex: '@inside\\.example$' })
    const external = async (email: string, more = {}) => (await make(email, more)).json.external
    expect(await external(`${unique('a')}@Inside.example`)).toBe(false)
    expect(await external(`${unique('a')}@outside.example`)).toBe(true)
    expect(await external(`${unique('a')}@outside.example`, { external: false })).toBe(false)
    await world.settings({ user_default_external: false, user_default_internal_regex: null })
  })
})

test('400 when a password does not meet the requirements of the settings', async () => {
  await world.settings({
    minimum_password_length: 10,
    password_number_required: true,
    password_lowercase_required: true,
    password_uppercase_required: true,
    password_symbol_required: true,
  })
  expect(await make(`${unique('a')}@example.com`, { password: '         ' })).toMatchObject({
    status: 400,
    json: {
      message: {
        password: [
          'is too short (minimum is 10 characters)',
          'must contain at least one number',
          'must contain at least one lowercase letter',
          'must contain at least one uppercase letter',
        ],
      },
    },
  })
  expect((await make(`${unique('a')}@example.com`, { password: 'Correct-h0rse' })).status).toBe(201)
  await world.settings({
    minimum_password_length: 8,
    password_number_required: false,
    password_lowercase_required: false,
    password_uppercase_required: false,
    password_symbol_required: false,
  })
})

describe('e-mail confirmation', () => {
  test('an unconfirmed account has no access until its e-mail is confirmed', async () => {
    await world.settings({ send_user_confirmation_email: true })
    const project = await world.project({ visibility: 'public' })
    const ann = await world.user({ skip_confirmation: false })
    const unconfirmed = {
      status: 403,
      json: { message: expect.stringMatching(/^403 Forbidden - Your primary email address is not confirmed/) },
    }
    expect(await ann.get('/user')).toMatchObject(unconfirmed)
    expect(await world.root.get(`/user?sudo=${ann.id}`)).toMatchObject(unconfirmed)
    const refs = `//${project.full_path}.git/info/refs?service=git-upload-pack`
    for (const password of [ann.token!, 'correct horse battery'])
      expect(
        await world.anonymous.get(refs, {
          headers: { authorization: `Basic ${Buffer.from(`${ann.username}:${password}`).toString('base64')}` },
        }),
      ).toMatchObject({ status: 403, text: expect.stringContaining('not confirmed') })

    const [link] = await linksTo(world, `${ann.username}@example.com`)
    expect((await follow(world, link!)).status).toBe(200)
    await expect.poll(async () => (await ann.get('/user')).status).toBe(200)
    expect((await world.root.get(`/users/${ann.id}`)).json.confirmed_at).toEqual(expect.any(String))
    await world.settings({ send_user_confirmation_email: false })
  })

  test('required confirmation applies at once to an account that has just been in use', async () => {
    const ann = await world.user({ skip_confirmation: false })
    for (const [send_user_confirmation_email, status] of [
      [true, 403],
      [false, 200],
    ] as const) {
      await ann.get('/user')
      await world.settings({ send_user_confirmation_email })
      expect((await ann.get('/user')).status).toBe(status)
    }
  })

  test('signing in does not activate a deactivated account whose e-mail is not confirmed', async () => {
    await world.settings({ send_user_confirmation_email: true })
    const project = await world.project({ visibility: 'public' })
    const ann = await world.user({ skip_confirmation: false })
    expect((await world.root.post(`/users/${ann.id}/deactivate`)).status).toBe(201)
    const password = 'correct horse battery'
    const json = { grant_type: 'password', username: ann.username, password }
    const grant = () => world.anonymous.send('POST', '//oauth/token', { json })
    const basic = Buffer.from(`${ann.username}:${password}`).toString('base64')
    const refs = `//${project.full_path}.git/info/refs?service=git-upload-pack`
    const fetch = () => world.anonymous.get(refs, { headers: { authorization: `Basic ${basic}` } })
    const state = async () => (await world.root.get(`/users/${ann.id}`)).json.state
    expect(await fetch()).toMatchObject({ status: 403, text: expect.stringContaining('not confirmed') })
    expect(await grant()).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
    expect(await state()).toBe('deactivated')
    const [link] = await linksTo(world, `${ann.username}@example.com`)
    expect((await follow(world, link!)).status).toBe(200)
    expect((await grant()).status).toBe(200)
    expect(await state()).toBe('active')
    await world.settings({ send_user_confirmation_email: false })
  })

  test('without required confirmation an account works at once and gets no mail', async () => {
    const ann = await world.user({ skip_confirmation: false })
    expect((await ann.get('/user')).status).toBe(200)
    expect(await linksTo(world, `${ann.username}@example.com`)).toEqual([])
  })
})

test('a user created without a password gets a link to choose one', async () => {
  const username = unique('new')
  const email = `${username}@example.com`
  await make(email, { username, password: undefined, reset_password: true })
  const [link] = await linksTo(world, email)
  const page = await world.anonymous.get(`/${link!.slice(world.config.externalUrl.length)}`)
  expect(page).toMatchObject({ status: 200, text: expect.stringContaining('Choose a new password') })
  expect(page.headers).toMatchObject({
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'content-security-policy': expect.stringContaining("form-action 'self'"),
  })
  expect((await follow(world, link!, { password: 'my own choice' })).status).toBe(200)
  expect((await world.root.get(`/users?username=${username}`)).json[0].confirmed_at).toEqual(expect.any(String))
})

test('account pages escape hostile tokens, and links work for one purpose only', async () => {
  const hostile = encodeURIComponent('"><script>alert(1)</script>\0')
  for (const page of ['confirmation', 'password/edit', 'password/new']) {
    const shown = await world.anonymous.get(`//-/users/${page}?token=${hostile}`)
    expect(shown.status).toBeLessThan(500)
    expect(shown.text).not.toContain('<script>')
  }
  const ann = await world.user()
  await world.root.put(`/users/${ann.id}`, { email: `${unique('n')}@example.com` })
  const [{ recipient }] = await latestMail(world)
  const [link] = await linksTo(world, recipient)
  expect(
    (await follow(world, link!.replace('confirmation', 'password/edit'), { password: 'long enough' })).status,
  ).toBe(422)
})

test('a password reset request does not reveal accounts, and sends at most one mail', async () => {
  const ann = await world.user()
  const email = `${ann.username}@example.com`
  const ask = (address: string) =>
    world.anonymous.send('POST', '//-/users/password/new', { body: new URLSearchParams({ email: address }).toString() })
  const [known, again, unknown] = [await ask(email), await ask(email.toUpperCase()), await ask('missing\0@example.com')]
  expect(await linksTo(world, email)).toHaveLength(1)
  for (const answer of [again, unknown]) expect(answer).toMatchObject({ status: 200, text: known.text })
})

test('confirming an e-mail accepts the invitations sent to it', async () => {
  const group = await world.group()
  const invite = (email: string) => world.root.post(`/groups/${group.id}/invitations`, { email, access_level: 20 })
  const waiting = async (who: { id: number }) =>
    (await world.jobs(`accept_invitations:${who.id}`)).filter(({ is_running }) => !is_running).length
  const ann = await world.user({ skip_confirmation: false })
  const email = `${unique('next')}@example.com`
  expect((await invite(email)).json).toEqual({ status: 'success' })
  expect(await waiting(ann)).toBe(0)
  await world.root.put(`/users/${ann.id}`, { email })
  expect((await follow(world, (await linksTo(world, email))[0]!)).status).toBe(200)
  expect(await waiting(ann)).toBe(1)

  const bob = await world.user({ skip_confirmation: false })
  await world.root.put(`/users/${bob.id}`, { email: `${unique('b')}@example.com`, skip_reconfirmation: true })
  expect(await waiting(bob)).toBe(1)
  const cid = await world.user({ password: undefined, reset_password: true, skip_confirmation: false })
  const [link] = await linksTo(world, `${cid.username}@example.com`)
  expect((await follow(world, link!, { password: 'my own choice' })).status).toBe(200)
  expect(await waiting(cid)).toBe(1)
})
