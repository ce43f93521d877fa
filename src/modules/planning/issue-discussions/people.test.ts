import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import { mailNoteJob } from '../../discussion/subscriptions/jobs.ts'
import { removeUser } from '../../groups/user-removal/jobs.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { openIssue } from '../issues/testing.ts'

describe('subscriptions and participants of issues', () => {
  test('a user subscribes to an issue once and unsubscribes once', async ({ world }) => {
    const [ann, reader] = [await world.user(), await world.user()]
    const { at } = await openIssue(world, { author: ann })
    expect((await ann.post(`${at}/subscribe`)).status).toBe(304)
    expect(await reader.post(`${at}/unsubscribe`)).toMatchObject({ status: 304 })
    expect(await reader.post(`${at}/subscribe`)).toMatchObject({ status: 201, json: { iid: 1, subscribed: true } })
    expect((await reader.post(`${at}/subscribe`)).status).toBe(304)
    expect(await reader.post(`${at}/unsubscribe`)).toMatchObject({ status: 201, json: { subscribed: false } })
    expect((await world.anonymous.post(`${at}/subscribe`)).status).toBe(401)
  })

  test('the author, assignees, commenters and mentioned users participate in an issue', async ({ world }) => {
    const [author, assignee, named, commenter, quiet] = await Promise.all(Array.from({ length: 5 }, () => world.user()))
    const { at } = await openIssue(world, { author: author! })
    await world.root.put(at, { assignee_ids: [assignee!.id], description: `See @${named!.username}` })
    await commenter!.post(`${at}/notes`, { body: 'Me, too' })
    const { status, json } = await quiet!.get(`${at}/participants`)
    expect(status).toBe(200)
    expect(json[0].id).toBe(author!.id)
    expect(json.slice(1).map(({ id }: { id: number }) => id)).toEqual(
      [assignee!.id, named!.id, commenter!.id].sort((a, b) => a - b),
    )
  })
})

test('a note is not mailed to participants who can no longer read the issue', async ({ world }) => {
  const [author, guest] = [await world.user(), await world.user()]
  const { at } = await openIssue(world, { author, members: [[guest, 'guest']] })
  await guest.post(`${at}/subscribe`)
  // Not the shared administrator, who may have written more notes within the hour than are mailed.
  const writer = await world.user({ admin: true })
  const { id } = (await writer.post(`${at}/notes`, { body: 'A secret' })).json
  await world.root.put(at, { confidential: true })
  for (const { payload } of await world.takeJobs(`mail_note:${id}`))
    await mailNoteJob.run(payload, await world.app.open(null))
  const mails = async ({ username }: Client) =>
    (await mailsTo(world, `${username}@example.com`)).filter(({ body }) => body.includes('A secret'))
  expect(await mails(author)).toHaveLength(1)
  expect(await mails(guest)).toEqual([])
})

describe('user agents of issues', () => {
  test('administrators see from where an issue was created, until its author is deleted', async ({ world }) => {
    const ann = await world.user()
    const { at, project } = await openIssue(world, { members: [[ann, 'developer']] })
    const headers = { 'user-agent': 'Spambot/1.0' }
    const made = await ann.send('POST', `/projects/${project.id}/issues`, { json: { title: 'Buy' }, headers })
    const path = `/projects/${project.id}/issues/${made.json.iid}/user_agent_detail`
    expect(await world.root.get(path)).toMatchObject({
      status: 200,
      json: { user_agent: 'Spambot/1.0', ip_address: expect.stringMatching(/\S/), akismet_submitted: false },
    })
    expect((await ann.get(path)).status).toBe(403)
    expect((await world.root.get(`${at}/user_agent_detail`)).status).toBe(200)
    await world.root.delete(`/users/${ann.id}`)
    for (const { payload } of await world.takeJobs(`remove_user:${ann.id}`))
      await removeUser.run(payload, await world.app.open(null))
    expect(await world.root.get(path)).toMatchObject({
      status: 404,
      json: { message: '404 UserAgentDetail Not Found' },
    })
  })
})
