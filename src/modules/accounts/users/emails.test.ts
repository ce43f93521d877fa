import { describe, expect } from 'vitest'
import { ageMailLinks } from '../../../../test/tables/users.ts'
import { test, unique } from '../../../../test/world.ts'
import { follow, linksTo } from './testing.ts'

const address = () => `${unique('further')}@example.com`
const missing = { status: 404, json: { message: '404 Email Not Found' } }

describe('secondary e-mails', () => {
  test('users add, list and delete their own e-mails', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const email = address()
    const made = await ann.post('/user/emails', { email })
    expect(made).toMatchObject({ status: 201, json: { id: expect.any(Number), email, confirmed_at: null } })
    const path = `/user/emails/${made.json.id}`
    expect(await ann.get('/user/emails')).toMatchObject({ status: 200, json: [made.json] })
    expect(await ann.get(path)).toMatchObject({ status: 200, json: made.json })
    for (const answer of [await bob.get(path), await bob.delete(path)]) expect(answer).toMatchObject(missing)
    expect((await bob.get('/user/emails')).json).toEqual([])
    expect((await world.anonymous.get('/user/emails')).status).toBe(401)
    const early = { headers: { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' } }
    expect((await ann.delete(path, early)).status).toBe(412)
    expect((await ann.delete(path)).status).toBe(204)
    expect(await ann.delete(path)).toMatchObject(missing)
    expect(await ann.get(path)).toMatchObject(missing)
  })

  test('400 for an e-mail that another user has, in any case', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const email = address()
    expect((await ann.post('/user/emails', { email })).status).toBe(201)
    const taken = { status: 400, json: { message: { email: ['has already been taken'] } } }
    for (const each of [email.toUpperCase(), `${ann.username}@example.com`])
      for (const who of [ann, bob]) expect(await who.post('/user/emails', { email: each })).toMatchObject(taken)
    expect(
      await world.root.post('/users', { email, username: unique('x'), name: 'X', password: 'correct horse' }),
    ).toMatchObject({ status: 409, json: { message: 'Email has already been taken' } })
    const [one] = (await ann.get('/user/emails')).json
    await ann.delete(`/user/emails/${one.id}`)
    expect((await bob.post('/user/emails', { email })).status).toBe(201)
  })

  test('one of several concurrent additions of the same e-mail succeeds', async ({ world }) => {
    const people = await Promise.all([world.user(), world.user(), world.user()])
    const email = address()
    const answers = await Promise.all(people.map((who) => who.post('/user/emails', { email })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400])
  })

  test.for([
    ['', "can't be blank"],
    ['no-address', 'is invalid'],
    ['a@b@c', 'is invalid'],
    ['<a@b>', 'is invalid'],
    ['a,b@c', 'is invalid'],
    ['a;b@c', 'is invalid'],
    ['a:b@c', 'is invalid'],
    ['a@b(c)', 'is invalid'],
    ['"a"@b', 'is invalid'],
    ['a@b\r\nBcc: c', 'is invalid'],
    [`${'a'.repeat(250)}@example.com`, 'is too long (maximum is 255 characters)'],
  ])('400 for the e-mail %j', async ([email, message], { world }) => {
    expect(await (await world.user()).post('/user/emails', { email })).toMatchObject({
      status: 400,
      json: { message: { email: [message] } },
    })
  })

  test('a confirmed e-mail can be public, and no longer once deleted', async ({ world }) => {
    const ann = await world.user()
    const email = address()
    const { id } = (await ann.post('/user/emails', { email })).json
    const show = () => world.root.put(`/users/${ann.id}`, { public_email: email })
    expect(await show()).toMatchObject({
      status: 404,
      json: { message: { public_email: ['is not an email you own'] } },
    })
    expect((await follow(world, (await linksTo(world, email))[0]!)).status).toBe(200)
    expect((await ann.get(`/user/emails/${id}`)).json.confirmed_at).toEqual(expect.any(String))
    expect((await show()).json.public_email).toBe(email)
    await ann.delete(`/user/emails/${id}`)
    expect((await world.anonymous.get(`/users/${ann.id}`)).json.public_email).toBe('')
  })

  test('a secondary e-mail can become the primary one', async ({ world }) => {
    const ann = await world.user()
    const email = address()
    await ann.post('/user/emails', { email })
    expect((await world.root.put(`/users/${ann.id}`, { email, skip_reconfirmation: true })).json.email).toBe(email)
    expect((await ann.get('/user/emails')).json).toEqual([])
  })

  test('429 after too many confirmation mails', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const email = address()
    const add = async () => {
      const added = await ann.post('/user/emails', { email })
      if (added.status === 201) await ann.delete(`/user/emails/${added.json.id}`)
      return added
    }
    for (let times = 0; times < 10; times++) expect((await add()).status).toBe(201)
    expect(await add()).toMatchObject({
      status: 429,
      json: { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
    })
    expect(await linksTo(world, email)).toHaveLength(10)
    expect((await bob.post('/user/emails', { email })).status).toBe(201)
    await ageMailLinks(world, ann.id, '1 hour')
    expect((await ann.post('/user/emails', { email: address() })).status).toBe(201)
  })

  test('administrators manage e-mails of other users and may skip the confirmation', async ({ world }) => {
    const ann = await world.user()
    const path = `/users/${ann.id}/emails`
    const made = await world.root.post(path, { email: address(), skip_confirmation: true })
    expect(made).toMatchObject({ status: 201, json: { confirmed_at: expect.any(String) } })
    expect(await linksTo(world, made.json.email)).toEqual([])
    expect((await world.root.get(path)).json).toEqual([made.json])
    expect(await world.root.get(`${path}/${made.json.id}`)).toMatchObject({ status: 200, json: made.json })
    expect(await world.root.get(`/users/1/emails/${made.json.id}`)).toMatchObject(missing)
    for (const answer of [
      await ann.get(path),
      await ann.get(`${path}/${made.json.id}`),
      await ann.post(path, { email: address() }),
      await ann.delete(`${path}/${made.json.id}`),
    ])
      expect(answer.status).toBe(403)
    expect((await world.anonymous.get(path)).status).toBe(401)
    expect((await world.root.delete(`${path}/${made.json.id}`)).status).toBe(204)
    expect(await world.root.delete(`${path}/${made.json.id}`)).toMatchObject(missing)
    expect(await world.root.get('/users/2147483647/emails')).toMatchObject({ status: 404 })
  })
})

test('a link to an address that its user has removed does not confirm it for another user who has added it since', async ({
  world,
}) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const email = `${unique('shared')}@example.com`
  const { id } = (await ann.post('/user/emails', { email })).json
  const [link] = await linksTo(world, email)
  expect((await ann.delete(`/user/emails/${id}`)).status).toBe(204)
  expect((await bob.post('/user/emails', { email })).status).toBe(201)
  expect((await follow(world, link!)).status).toBe(422)
  expect((await bob.get('/user/emails')).json).toMatchObject([{ email, confirmed_at: null }])
})
