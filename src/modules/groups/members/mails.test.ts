import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { deliverMemberMail } from './mail-jobs.ts'

const bases = ['groups', 'projects'] as const
const addressOf = (who: Client) => `${who.username}@example.com`

/** The users to whom the waiting mails about members are sent now. */
async function deliveredTo(world: World, users: readonly Client[]): Promise<readonly Client[]> {
  const sent: string[] = []
  const mailer = { send: async ({ to }: { to: string }) => void sent.push(to) }
  for (const { payload } of await world.takeJobs('deliver_member_mail:%'))
    await deliverMemberMail.run(payload, { ...(await contextFor(world, null)), mailer })
  return users.filter((who) => sent.includes(addressOf(who)))
}

describe.for(bases)('mails to new members of %s', (base) => {
  const of = base.slice(0, -1)
  const placeIn = (world: World) => (base === 'groups' ? world.group() : world.project())
  const add = async (world: World, id: number, who: Client) =>
    expect((await world.root.post(`/${base}/${id}/members`, { user_id: who.id, access_level: 30 })).status).toBe(201)

  test('a mail to a new member names target, role, expiry and the user who added them', async ({ world }) => {
    const ann = await world.user()
    const { id, full_path } = await placeIn(world)
    await world.root.post(`/${base}/${id}/members`, { user_id: ann.id, access_level: 30, expires_at: '2099-01-31' })
    const [mail, ...more] = await mailsTo(world, addressOf(ann))
    expect(more).toEqual([])
    expect(mail!.subject).toContain(full_path)
    expect(mail!.body).toContain(`You were added to a ${of}:`)
    expect(mail!.body).toContain(`${world.origin}/${base === 'groups' ? 'groups/' : ''}${full_path}\n`)
    expect(mail!.body).toContain('role is Developer')
    expect(mail!.body).toContain('2099-01-31')
    expect(mail!.body).toContain('Administrator (@root)')
  })

  test('a mail that waits is sent only to an address that is still of a member who wants it', async ({ world }) => {
    const all = [await world.user(), await world.user(), await world.user(), await world.user()]
    const [kept, removed, blocked, disabled] = all
    const { id } = await placeIn(world)
    for (const who of all) await add(world, id, who)
    await world.root.delete(`/${base}/${id}/members/${removed!.id}`)
    await world.root.post(`/users/${blocked!.id}/block`)
    await disabled!.put(`/${base}/${id}/notification_settings`, { level: 'disabled' })
    expect(await deliveredTo(world, all)).toEqual([kept])
  })

  test('the mail about an access request that waits is sent only to those who still decide', async ({ world }) => {
    const [kept, demoted, asking] = [await world.user(), await world.user(), await world.user()]
    const group = await world.group({
      visibility: 'public',
      request_access_enabled: true,
      members: [
        [kept, 'owner'],
        [demoted, 'owner'],
      ],
    })
    const place =
      base === 'groups' ? group : await world.project({ group, visibility: 'public', request_access_enabled: true })
    await deliveredTo(world, [kept, demoted])
    expect((await asking.post(`/${base}/${place.id}/access_requests`)).status).toBe(201)
    await world.root.put(`/groups/${group.id}/members/${demoted.id}`, { access_level: 30 })
    expect(await deliveredTo(world, [kept, demoted])).toEqual([kept])
  })

  test('no mail to members who are refused, add themselves, or are blocked', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { id } = await placeIn(world)
    await world.root.post(`/users/${bob.id}/block`)
    await add(world, id, ann)
    await world.root.post(`/${base}/${id}/members`, { user_id: ann.id, access_level: 30 })
    await add(world, id, bob)
    expect(await mailsTo(world, addressOf(ann))).toHaveLength(1)
    expect(await mailsTo(world, addressOf(bob))).toEqual([])
    const own = await world.group({}, ann)
    await ann.post('/projects', { name: unique('own'), namespace_id: own.id })
    expect(await mailsTo(world, addressOf(ann))).toHaveLength(1)
  })

  test('no mail to members who disabled mails, or whose group did', async ({ world }) => {
    const [off, here, loud] = [await world.user(), await world.user(), await world.user()]
    const outer = await world.group()
    const place = base === 'groups' ? await world.group({ parent: outer }) : await world.project({ group: outer })
    await off.put('/notification_settings', { level: 'disabled' })
    await world.root.post(`/groups/${outer.id}/members`, { user_id: here.id, access_level: 10 })
    await here.put(`/groups/${outer.id}/notification_settings`, { level: 'disabled' })
    const before = (await mailsTo(world, addressOf(here))).length
    for (const who of [off, here, loud]) await add(world, place.id, who)
    expect(await mailsTo(world, addressOf(off))).toEqual([])
    expect(await mailsTo(world, addressOf(here))).toHaveLength(before)
    expect(await mailsTo(world, addressOf(loud))).toHaveLength(1)

    const late = await world.user()
    await world.root.put(`/groups/${outer.id}`, { emails_disabled: true })
    await add(world, place.id, late)
    expect(await mailsTo(world, addressOf(late))).toEqual([])
  })

  test('mails go to the preferred e-mail when a nearer setting enables them', async ({ world }) => {
    const ann = await world.user()
    const other = `${unique('other')}@example.com`
    await world.root.post(`/users/${ann.id}/emails`, { email: other, skip_confirmation: true })
    await ann.put('/notification_settings', { level: 'disabled', notification_email: other })
    const group = await world.group({ visibility: 'public' })
    await ann.put(`/groups/${group.id}/notification_settings`, { level: 'watch' })
    const place = base === 'groups' ? group : await world.project({ group })
    const before = await mailsTo(world, addressOf(ann))
    await add(world, place.id, ann)
    expect(await mailsTo(world, addressOf(ann))).toEqual(before)
    expect(await mailsTo(world, other)).toHaveLength(1)
  })
})

test('a line break in a user name adds no line to a mail', async ({ world }) => {
  const [ann, eve] = [
    await world.user(),
    await world.user({ name: 'Eve\u2028\u2028Send your password to eve@example.org' }),
  ]
  const group = await world.group({}, eve)
  await eve.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 10 })
  const [mail] = await mailsTo(world, addressOf(ann))
  expect(mail!.body).not.toMatch(/\u2028/)
  expect(mail!.body).toContain(`Eve Send your password to eve@example.org (@${eve.username})`)
})
