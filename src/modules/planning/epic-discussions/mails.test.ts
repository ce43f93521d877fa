import { expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { mailNamedUsersJob, mailNoteJob, mailOpeningJob } from '../../discussion/subscriptions/jobs.ts'
import { recipientsOfOpening } from '../../discussion/subscriptions/recipient-queries.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { openEpic } from '../epics/testing.ts'
import { openIssue } from '../issues/testing.ts'

const inbox = async (world: World, who: Client) =>
  (await mailsTo(world, `${who.username}@example.com`)).filter(({ body }) => body.includes('/-/epics/'))

test('a note on an epic is mailed to participants and to watchers of a group above, if they may read it', async ({
  world,
}) => {
  const [author, named, watcher, above, muted, guest, stranger] = await Promise.all(
    Array.from({ length: 7 }, () => world.user()),
  )
  const top = await world.group({ members: [[above!, 'reporter']] })
  const group = await world.group({
    parent: top,
    members: [
      [author!, 'reporter'],
      [named!, 'reporter'],
      [watcher!, 'reporter'],
      [muted!, 'reporter'],
      [guest!, 'guest'],
    ],
  })
  await watcher!.put(`/groups/${group.id}/notification_settings`, { level: 'watch' })
  await above!.put(`/groups/${top.id}/notification_settings`, { level: 'watch' })
  await guest!.put(`/groups/${group.id}/notification_settings`, { level: 'watch' })
  await muted!.put(`/groups/${group.id}/notification_settings`, { level: 'disabled' })
  const { at } = await openEpic(world, {
    group,
    author: author!,
    title: 'Paint it',
    confidential: true,
    description: `@${named!.username} @${muted!.username} @${stranger!.username}`,
  })
  const ctx = await world.app.open(null)
  for (const { payload } of await world.takeJobs('mail_named_users:%')) await mailNamedUsersJob.run(payload, ctx)
  // Not the shared administrator, who may have written more notes within the hour than are mailed.
  const writer = await world.user({ admin: true })
  const note = (await writer.post(`${at}/notes`, { body: 'In red' })).json
  for (const { payload } of await world.takeJobs(`mail_note:${note.id}`)) await mailNoteJob.run(payload, ctx)
  for (const who of [author, named, watcher, above])
    expect(
      (await inbox(world, who!)).filter(({ body }) => body.includes('In red')),
      who!.username,
    ).toMatchObject([
      {
        subject: expect.stringContaining(`Paint it, ${group.full_path}&1`),
        body: expect.stringContaining(`/groups/${group.full_path}/-/epics/1#note_`),
      },
    ])
  for (const who of [muted, guest, stranger]) expect(await inbox(world, who!)).toEqual([])
  expect((await inbox(world, named!)).map(({ body }) => body).join()).toContain('You were mentioned in an epic:')
})

test('a new epic is mailed to watchers, those who chose it and subscribers of its labels, if they may read it', async ({
  world,
}) => {
  const [author, named, watcher, above, custom, labelled, muted, quiet, guest] = await Promise.all(
    Array.from({ length: 9 }, () => world.user()),
  )
  const top = await world.group({ members: [[above!, 'reporter']] })
  const group = await world.group({
    parent: top,
    members: [
      ...[author, named, watcher, custom, labelled, muted, quiet].map((who) => [who!, 'reporter'] as const),
      [guest!, 'guest'],
    ] as never,
  })
  const choose = (who: Client | undefined, settings: object, at = group.id) =>
    who!.put(`/groups/${at}/notification_settings`, settings)
  await choose(watcher, { level: 'watch' })
  await choose(named, { level: 'watch' })
  await choose(above, { level: 'watch' }, top.id)
  await choose(custom, { level: 'custom', new_epic: true })
  await choose(quiet, { level: 'custom', new_epic: false, new_issue: true })
  await choose(muted, { level: 'disabled' })
  await choose(guest, { level: 'watch' })
  await world.root.post(`/groups/${group.id}/labels`, { name: 'speed', color: '#112233' })
  for (const who of [labelled, muted]) await who!.post(`/groups/${group.id}/labels/speed/subscribe`)
  const { id } = await openEpic(world, {
    group,
    author: author!,
    title: 'Paint it',
    confidential: true,
    labels: 'speed',
    description: `@${named!.username}`,
  })
  const ctx = await world.app.open(null)
  for (const { payload } of await world.takeJobs(`mail_opening:Epic:${id}`)) await mailOpeningJob.run(payload, ctx)
  for (const who of [watcher, above, custom, labelled])
    expect(await inbox(world, who!), who!.username).toMatchObject([
      {
        subject: expect.stringContaining(`Paint it, ${group.full_path}&1`),
        body: expect.stringContaining('An epic was opened:'),
      },
    ])
  // The mention is mailed as a todo.
  for (const who of [author, named, muted, quiet, guest]) expect(await inbox(world, who!), who!.username).toEqual([])
})

test('a new issue is mailed by the same rules, and an imported one with an old time of creation is not', async ({
  world,
}) => {
  const [author, watcher] = [await world.user(), await world.user()]
  const project = await world.project({
    members: [
      [author, 'reporter'],
      [watcher, 'reporter'],
    ],
  } as never)
  await watcher.put(`/projects/${project.id}/notification_settings`, { level: 'watch' })
  const fresh = await openIssue(world, { project, author, title: 'Fresh' } as never)
  const old = await openIssue(world, { project, title: 'Old', created_at: '2020-01-01T00:00:00Z' } as never)
  const ctx = await world.app.open(null)
  for (const { id } of [fresh, old])
    for (const { payload } of await world.takeJobs(`mail_opening:Issue:${id}`)) await mailOpeningJob.run(payload, ctx)
  const mails = await mailsTo(world, `${watcher.username}@example.com`)
  expect(mails.map(({ subject }) => subject).filter((subject) => !subject.startsWith('Access'))).toEqual([
    expect.stringContaining(`Fresh, ${project.full_path}#1`),
  ])
})

test('an owner who dates new issues back or forward does not get around the limit of mails an hour', async ({
  world,
}) => {
  const [watcher, project] = [await world.user(), await world.project()]
  await world.root.post(`/projects/${project.id}/members`, { user_id: watcher.id, access_level: 20 })
  await watcher.put(`/projects/${project.id}/notification_settings`, { level: 'watch' })
  const owner = await world.user({ admin: true })
  const hour = 60 * 60_000
  for (const hours of [-2, 2]) {
    const mailed: boolean[] = []
    for (let n = 0; n < 3; n++) {
      const created_at = new Date(Date.now() + hours * hour * (n + 1)).toISOString()
      const { id } = await openIssue(world, { project, author: owner, created_at } as never)
      const opening = { id, actorId: owner.id }
      mailed.push((await recipientsOfOpening(world.db, 'Issue', opening, 'new_issue', 1)).length > 0)
    }
    expect(mailed.filter(Boolean).length, `${hours}`).toBeLessThanOrEqual(1)
  }
})
