import { expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { mailNoteJob, mailTodosJob } from '../../discussion/subscriptions/jobs.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { openEpic } from '../epics/testing.ts'

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
  for (const { payload } of await world.takeJobs('tell_of_todos:%')) await mailTodosJob.run(payload, ctx)
  const note = (await world.root.post(`${at}/notes`, { body: 'In red' })).json
  for (const { payload } of await world.takeJobs(`tell_of_note:${note.id}`)) await mailNoteJob.run(payload, ctx)
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
  expect((await inbox(world, named!)).map(({ body }) => body).join()).toContain('mentioned you in an epic:')
})
