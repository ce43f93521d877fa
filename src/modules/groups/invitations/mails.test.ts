import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { countHits } from '../../../../test/tables/users.ts'
import { test, unique } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { acceptInvitationsLater } from './jobs.ts'

const address = () => `${unique('guest')}@example.org`

describe.for(['groups', 'projects'] as const)('an invitation to %s', (base) => {
  const of = base.slice(0, -1)

  test('an invitation mail names inviter, target, role, expiry and how to accept', async ({ world }) => {
    const place = base === 'groups' ? await world.group() : await world.project()
    const email = address()
    const invite = () =>
      world.root.post(`/${base}/${place.id}/invitations`, { email, access_level: 20, expires_at: '2099-01-31' })
    await invite()
    await invite()
    const [mail, ...more] = await mailsTo(world, email)
    expect(more).toEqual([])
    expect(mail!.subject).toContain(place.full_path)
    expect(mail!.body).toContain('Administrator (@root)')
    expect(mail!.body).toContain(`invited you to a ${of}:`)
    expect(mail!.body).toContain(`${world.origin}/${base === 'groups' ? 'groups/' : ''}${place.full_path}\n`)
    expect(mail!.body).toContain('role is Reporter')
    expect(mail!.body).toContain('2099-01-31')
    expect(mail!.body).toContain(`confirm ${email}`)
  })

  test('an accepted invitation is confirmed by mail to the new member', async ({ world }) => {
    const place = base === 'groups' ? await world.group() : await world.project()
    const [known, email] = [await world.user(), address()]
    await world.root.post(`/${base}/${place.id}/invitations`, {
      email: [email, `${known.username}@example.com`],
      access_level: 20,
    })
    expect((await mailsTo(world, `${known.username}@example.com`))[0]!.body).toContain('You were added to')
    const ann = await world.user({ email })
    await acceptInvitationsLater.run({ userId: ann.id }, await contextFor(world, null))
    const [accepted, ...more] = (await mailsTo(world, email)).filter(({ body }) => body.includes('You accepted'))
    expect(more).toEqual([])
    expect(accepted!.body).toContain(`You accepted an invitation to a ${of}:`)
  })

  test('429 after 200 invitation mails of one user per hour', async ({ world }) => {
    const ann = await world.user()
    const place =
      base === 'groups' ? await world.group({}, ann) : (await ann.post('/projects', { name: unique('p') })).json
    await countHits(world, `invitation:${ann.id}`, 199)
    const invite = () => ann.post(`/${base}/${place.id}/invitations`, { email: address(), access_level: 20 })
    expect((await invite()).status).toBe(201)
    expect((await invite()).status).toBe(429)
  })

  test('of the addresses of one request, those beyond 200 mails per hour are refused by name, and the others are invited', async ({
    world,
  }) => {
    const [ann, known] = [await world.user(), await world.user()]
    const place =
      base === 'groups' ? await world.group({}, ann) : (await ann.post('/projects', { name: unique('p') })).json
    const [first, second, third] = [address(), address(), address()]
    await countHits(world, `invitation:${ann.id}`, 199)
    const at = `/${base}/${place.id}`
    const email = [first, second, third, `${known.username}@example.com`]
    const invited = await ann.post(`${at}/invitations`, { email, access_level: 20 })
    const limited = 'This endpoint has been requested too many times. Try again later.'
    expect(invited).toMatchObject({
      status: 201,
      json: { status: 'error', message: { [second]: limited, [third]: limited } },
    })
    const { json: pending } = await ann.get(`${at}/invitations`)
    expect(pending.map((each: { invite_email: string }) => each.invite_email)).toEqual([first])
    expect((await ann.get(`${at}/members/${known.id}`)).status).toBe(200)
    // Nothing is changed.
    expect((await ann.post(`${at}/invitations`, { email: [second, third], access_level: 20 })).status).toBe(429)
  })
})
