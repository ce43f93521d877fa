import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { openMergeRequest } from './testing.ts'

describe('GET …/participants', () => {
  test('participants are author, assignees, commenters and mentioned users, each once', async ({ world }) => {
    const [dan, eve, fay] = [await world.user(), await world.user(), await world.user()]
    const members: [Client, Level][] = [
      [dan, 'developer'],
      [eve, 'developer'],
    ]
    const { at } = await openMergeRequest(world, {
      members,
      author: eve,
      assignee_ids: [dan.id],
      description: `With @${fay.username} and @${dan.username}`,
    })
    const people = async () => (await dan.get(`${at}/participants`)).json.map(({ id }: any) => id)
    expect(await people()).toEqual([eve.id, dan.id, fay.id])
    // A system note does not make its user a participant.
    await world.root.put(at, { state_event: 'close' })
    expect(await people()).toEqual([eve.id, dan.id, fay.id])
  })
})

test('merge requests in events and search are shown to callers who can read them', async ({ world }) => {
  const [ann, guest] = [await world.user(), await world.user()]
  const members: [Client, Level][] = [
    [ann, 'developer'],
    [guest, 'guest'],
  ]
  const { project, iid, at } = await openMergeRequest(world, { members, author: ann, visibility: 'private' })
  await ann.put(at, { state_event: 'close' })
  const lines = async (who: Client) =>
    (await who.get(`/projects/${project.id}/events?target_type=merge_request`)).json.map((line: any) => [
      line.action_name,
      line.target_iid,
    ])
  expect(await lines(ann)).toEqual([
    ['closed', iid],
    ['opened', iid],
  ])
  expect(await lines(guest)).toEqual([])
  expect((await ann.get(`/projects/${project.id}/search?scope=merge_requests&search=topic`)).json).toEqual([
    expect.objectContaining({ iid, state: 'closed' }),
  ])
  expect((await ann.get('/search?scope=merge_requests&search=topic')).json.map((one: any) => one.project_id)).toContain(
    project.id,
  )
  expect((await guest.get(`/projects/${project.id}/search?scope=merge_requests&search=topic`)).status).toBe(403)
})
