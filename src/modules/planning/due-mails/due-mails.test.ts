import { expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { openIssue } from '../issues/testing.ts'
import { mailDueIssues } from './jobs.ts'

const inbox = async (world: World, who: Client) =>
  (await mailsTo(world, `${who.username}@example.com`)).filter(({ body }) => body.includes('is due tomorrow'))

const run = async (world: World) => mailDueIssues.run({}, await world.app.open(null))

const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)

test('an open issue is mailed once on the day before it is due, to those whose settings ask for it', async ({
  world,
}) => {
  const [author, assignee, selecting, named, bystander] = await Promise.all(
    Array.from({ length: 5 }, () => world.user()),
  )
  const { at, project, record } = await openIssue(world, { author: author!, title: 'Paint it' })
  await selecting!.put(`/projects/${project.id}/notification_settings`, { level: 'custom', issue_due: true })
  await named!.put(`/projects/${project.id}/notification_settings`, { level: 'mention' })
  await world.root.put(at, {
    due_date: tomorrow(),
    assignee_ids: [assignee!.id],
    description: `@${named!.username}`,
  })
  await Promise.all([run(world), run(world)])
  await run(world)
  for (const [who, count] of [
    [author, 1],
    [assignee, 1],
    [selecting, 1],
    [named, 0],
    [bystander, 0],
  ] as const)
    expect(await inbox(world, who!), who!.username).toHaveLength(count)
  const [mail] = await inbox(world, author!)
  expect(mail).toMatchObject({
    subject: expect.stringContaining(`Paint it, ${project.full_path}#1`),
    body: expect.stringContaining(`An issue is due tomorrow:\n\nPaint it\n${record.web_url}`),
  })
})

test('closed issues and those of other days are not mailed, and confidential ones to their readers only', async ({
  world,
}) => {
  const [author, guest] = [await world.user(), await world.user()]
  const { project, at } = await openIssue(world, { author, members: [[guest, 'guest']] })
  await guest.post(`${at}/subscribe`)
  await world.root.put(at, { due_date: tomorrow(), state_event: 'close' })
  const later = await openIssue(world, { project, author })
  await world.root.put(later.at, { due_date: '2999-01-01' })
  const secret = await openIssue(world, { project, author })
  await guest.post(`${secret.at}/subscribe`)
  await world.root.put(secret.at, { due_date: tomorrow(), confidential: true, title: 'Whispered' })
  await run(world)
  expect(await inbox(world, guest)).toEqual([])
  expect(await inbox(world, author)).toMatchObject([{ subject: expect.stringContaining('Whispered') }])
})
