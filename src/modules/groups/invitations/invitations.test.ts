import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { invitationsTo } from '../../../../test/tables/access.ts'
import { auditWithFact, eventsWithText } from '../../../../test/tables/events.ts'
import { now } from '../../../../test/tables/statements.ts'
import { changeUser, confirmEmail } from '../../../../test/tables/users.ts'
import { test, unique, type World } from '../../../../test/world.ts'
import { acceptInvitationsLater, purgeEndedInvitations } from './jobs.ts'

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
const bases = ['groups', 'projects'] as const

async function placeIn(world: World, base: (typeof bases)[number], more = {}): Promise<string> {
  const made = base === 'groups' ? await world.group(more) : await world.project(more)
  return `/${base}/${made.id}`
}

const address = () => `${unique('guest')}@example.org`

/** Runs the job that follows the confirmation of a user's e-mail. */
const accept = async (world: World, userId: number) =>
  acceptInvitationsLater.run({ userId }, await contextFor(world, null))

describe.for(bases)('invitations to %s', (base) => {
  test('inviting the confirmed e-mail of a user adds them as a member at once', async ({ world }) => {
    const ann = await world.user()
    const place = await placeIn(world, base)
    const invited = await world.root.post(`${place}/invitations`, {
      email: `${ann.username.toUpperCase()}@example.com`,
      access_level: 20,
      expires_at: day(9),
    })
    expect(invited).toMatchObject({ status: 201, json: { status: 'success' } })
    expect((await world.root.get(`${place}/members/${ann.id}`)).json).toMatchObject({
      access_level: 20,
      expires_at: day(9),
    })
    expect((await world.root.get(`${place}/invitations`)).json).toEqual([])
    expect((await ann.get(place)).status).toBe(200)
  })

  test('pending invitations are listed, changed and revoked', async ({ world }) => {
    const place = await placeIn(world, base)
    const [one, two] = [address(), address()]
    const both = await world.root.post(`${place}/invitations`, { email: `${one}, ${two}`, access_level: 10 })
    expect(both.json).toEqual({ status: 'success' })
    const record = {
      id: expect.any(Number),
      invite_email: one,
      access_level: 10,
      expires_at: null,
      created_at: expect.any(String),
      created_by_name: 'Administrator',
    }
    const { json } = await world.root.get(`${place}/invitations`)
    expect(json).toEqual([record, { ...record, invite_email: two }])
    expect((await world.root.get(`${place}/invitations?query=${two.slice(0, 12)}`)).json.length).toBeGreaterThan(0)
    expect((await world.root.get(`${place}/invitations?query=${encodeURIComponent(two)}`)).json).toHaveLength(1)

    const path = `${place}/invitations/${encodeURIComponent(one)}`
    expect(await world.root.put(path, { access_level: 30, expires_at: day(3) })).toMatchObject({
      status: 200,
      json: { invite_email: one, access_level: 30, expires_at: `${day(3)}T00:00:00.000Z` },
    })
    expect((await world.root.put(path, { expires_at: null })).json).toMatchObject({
      access_level: 30,
      expires_at: null,
    })
    expect((await world.root.put(path, {})).status).toBe(400)
    expect((await world.root.delete(path)).status).toBe(204)
    expect(await world.root.delete(path)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    expect((await world.root.put(path, { access_level: 10 })).status).toBe(404)
  })

  test('the expiry of a pending invitation is a time, which Go clients require, and can be sent back', async ({
    world,
  }) => {
    const place = await placeIn(world, base)
    const email = address()
    await world.root.post(`${place}/invitations`, { email, access_level: 10, expires_at: day(9) })
    const [{ expires_at }] = (await world.root.get(`${place}/invitations`)).json
    expect(expires_at).toBe(`${day(9)}T00:00:00.000Z`)
    const sent = await world.root.put(`${place}/invitations/${encodeURIComponent(email)}`, { expires_at })
    expect(sent).toMatchObject({ status: 200, json: { expires_at } })
  })

  test('an invitation becomes a membership when a user confirms its e-mail', async ({ world }) => {
    const place = await placeIn(world, base)
    const email = address()
    await world.root.post(`${place}/invitations`, { email, access_level: 30 })
    const ann = await world.user({ email: email.toUpperCase(), skip_confirmation: false })
    await accept(world, ann.id)
    expect((await ann.get(place)).status).toBe(404)

    await changeUser(world, ann.id, { confirmed_at: now })
    await accept(world, ann.id)
    expect((await ann.get(place)).status).toBe(200)
    expect((await world.root.get(`${place}/members/${ann.id}`)).json).toMatchObject({ access_level: 30 })
    expect((await world.root.get(`${place}/invitations`)).json).toEqual([])
    // A second run changes nothing.
    await accept(world, ann.id)
  })

  test('invitations to any confirmed e-mail of a user are accepted', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const [known, later] = [address(), address()]
    expect((await world.root.post(`/users/${ann.id}/emails`, { email: known, skip_confirmation: true })).status).toBe(
      201,
    )
    expect((await world.root.post(`/users/${bob.id}/emails`, { email: later })).status).toBe(201)
    const place = await placeIn(world, base)
    await world.root.post(`${place}/invitations`, { email: [known, later], access_level: 20 })
    expect((await ann.get(place)).status).toBe(200)
    await accept(world, bob.id)
    expect((await bob.get(place)).status).toBe(404)
    await confirmEmail(world, { email: later })
    await accept(world, bob.id)
    expect((await bob.get(place)).status).toBe(200)
    expect((await world.root.get(`${place}/invitations`)).json).toEqual([])
  })

  test('creating a confirmed account queues the acceptance of invitations, others do not', async ({ world }) => {
    const queued = async (id: number) => (await world.jobs(`accept_invitations:${id}`)).length
    expect(await queued((await world.user()).id)).toBe(1)
    expect(await queued((await world.user({ skip_confirmation: false })).id)).toBe(0)
  })

  test('an invitation becomes a membership when an administrator adds its e-mail to a user as confirmed', async ({
    world,
  }) => {
    const [ann, place, email] = [await world.user(), await placeIn(world, base), address()]
    await world.root.post(`${place}/invitations`, { email, access_level: 20 })
    await world.runJobs()
    await world.root.post(`/users/${ann.id}/emails`, { email, skip_confirmation: true })
    await expect.poll(async () => (await ann.get(place)).status).toBe(200)
    expect((await world.root.get(`${place}/invitations`)).json).toEqual([])
  })

  test('an invitation to an unconfirmed e-mail stays pending', async ({ world }) => {
    const ann = await world.user({ skip_confirmation: false })
    const place = await placeIn(world, base)
    const email = `${ann.username}@example.com`
    await world.root.post(`${place}/invitations`, { email, access_level: 30 })
    expect((await ann.get(place)).status).toBe(404)
    expect((await world.root.get(`${place}/invitations`)).json).toMatchObject([{ invite_email: email }])
  })

  test('errors of invitations are reported by e-mail, and the others are sent', async ({ world }) => {
    const ann = await world.user()
    const place = await placeIn(world, base, { members: [[ann, 'guest']] })
    const { name } = (await world.root.get(place)).json
    const [known, fresh] = [address(), address()]
    await world.root.post(`${place}/invitations`, { email: known, access_level: 10 })
    const email = [
      `${ann.username}@example.com`,
      known,
      'no address',
      '<a@example.com>',
      fresh,
      fresh.toUpperCase(),
    ].join(',')
    expect(await world.root.post(`${place}/invitations`, { email, access_level: 10 })).toMatchObject({
      status: 201,
      json: {
        status: 'error',
        message: {
          [`${ann.username}@example.com`]: `Already a member of ${name}`,
          [known]: `Member already invited to ${name}`,
          'no address': 'Invite email is invalid',
          '<a@example.com>': 'Invite email is invalid',
        },
      },
    })
    expect((await world.root.get(`${place}/invitations`)).json).toHaveLength(2)
  })

  test('the address of an account that is being deleted is invited, and so are the others', async ({ world }) => {
    const [place, gone] = [await placeIn(world, base), await world.user()]
    const emails = [address(), `${gone.username}@example.com`, address()]
    expect((await world.root.delete(`/users/${gone.id}`)).status).toBe(204)
    expect(await world.root.post(`${place}/invitations`, { email: emails.join(','), access_level: 20 })).toMatchObject({
      status: 201,
      json: { status: 'success' },
    })
    const pending = (await world.root.get(`${place}/invitations`)).json
    expect(pending.map((each: { invite_email: string }) => each.invite_email)).toEqual(emails)
  })

  test('400 for invitations without e-mails, with too many, or with an invalid level', async ({ world }) => {
    const place = await placeIn(world, base)
    const send = (body: object) => world.root.post(`${place}/invitations`, body)
    expect(await send({ email: '', access_level: 10 })).toMatchObject({ json: { status: 'error' } })
    const many = Array.from({ length: 101 }, (_, index) => `a${index}@example.org`).join(',')
    expect((await send({ email: many, access_level: 10 })).json).toEqual({
      status: 'error',
      message: 'Too many users specified (limit is 100)',
    })
    expect(await send({ access_level: 10 })).toMatchObject({ status: 400, json: { error: 'email is missing' } })
    expect(await send({ email: address(), access_level: 15 })).toMatchObject({
      status: 400,
      json: { error: 'access_level does not have a valid value' },
    })
    expect((await send({ email: address(), access_level: 50 })).status).toBe(base === 'groups' ? 201 : 400)
  })

  test('an expired invitation is not listed, and can be neither extended nor revoked, only replaced', async ({
    world,
  }) => {
    const place = await placeIn(world, base)
    const email = address()
    const invite = (more: object) => world.root.post(`${place}/invitations`, { email, access_level: 10, ...more })
    await invite({ expires_at: day(0) })
    const path = `${place}/invitations/${encodeURIComponent(email)}`
    expect((await world.root.get(`${place}/invitations`)).json).toEqual([])
    expect((await world.root.put(path, { expires_at: day(9) })).status).toBe(404)
    expect((await world.root.delete(path)).status).toBe(404)
    expect((await invite({ access_level: 20 })).json).toEqual({ status: 'success' })
    expect((await world.root.get(`${place}/invitations`)).json).toMatchObject([{ access_level: 20, expires_at: null }])
  })

  test('expired invitations are not accepted, and are purged', async ({ world }) => {
    const place = await placeIn(world, base)
    const email = address()
    await world.root.post(`${place}/invitations`, { email, access_level: 30, expires_at: day(0) })
    expect((await world.root.get(`${place}/invitations`)).json).toEqual([])
    const ann = await world.user({ email })
    await accept(world, ann.id)
    expect((await ann.get(place)).status).toBe(404)
    expect((await world.root.post(`${place}/invitations`, { email: address(), access_level: 30 })).status).toBe(201)
    const rows = () => invitationsTo(world, email)
    expect(await rows()).toHaveLength(1)
    await purgeEndedInvitations.run({}, await contextFor(world, null))
    expect(await rows()).toEqual([])
    expect((await world.root.get(`${place}/invitations`)).json).toHaveLength(1)
  })

  test('audit events of invitations have the e-mail, other events do not', async ({ world }) => {
    const place = await placeIn(world, base)
    const email = address()
    await world.root.post(`${place}/invitations`, { email, access_level: 10 })
    const found = await auditWithFact(world, 'email', email)
    expect(found).toEqual([{ event: 'member_invited', facts: { email, access_level: 10, expires_at: null } }])
    expect(await eventsWithText(world, email)).toEqual([])
  })

  test.for([
    { who: 'anonymous', status: 401 },
    { who: 'stranger', status: 403 },
    { who: 'developer', status: 403 },
    { who: 'maintainer', status: base === 'groups' ? 403 : 201 },
  ] as const)('invitations are for managers: $who gets $status', async ({ who, status }, { world }) => {
    const ann = await world.user()
    const members = who === 'anonymous' || who === 'stranger' ? [] : [[ann, who]]
    const place = await placeIn(world, base, { visibility: 'public', members })
    const caller = who === 'anonymous' ? world.anonymous : ann
    const email = address()
    expect((await caller.post(`${place}/invitations`, { email, access_level: 10 })).status).toBe(status)
    expect((await caller.get(`${place}/invitations`)).status).toBe(status === 201 ? 200 : status)
    const path = `${place}/invitations/${encodeURIComponent(email)}`
    expect((await caller.put(path, { access_level: 20 })).status).toBe(status === 201 ? 200 : status)
    expect((await caller.delete(path)).status).toBe(status === 201 ? 204 : status)
  })
})
