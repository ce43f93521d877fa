import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

async function opened(world: World, more: Parameters<typeof openMergeRequest>[1] = {}) {
  const developer = await world.user()
  const made = await openMergeRequest(world, { members: [[developer, 'developer']], ...more })
  const post = (who: Client, verb: string) => who.post(`${made.at}/${verb}`)
  const isTold = async (who: Client) => (await who.get(made.at)).json.subscribed
  return { ...made, developer, post, isTold }
}

describe('who is told of a merge request', () => {
  test('D3-MR-SUBSCRIBE: is whoever asks for it, and is answered with the merge request', async ({ world }) => {
    const { developer, post, isTold, at } = await opened(world)
    expect(await isTold(developer)).toBe(false)
    const asked = await post(developer, 'subscribe')
    expect(asked).toMatchObject({ status: 201, json: { iid: 1, title: 'Merge topic', subscribed: true } })
    expect((await developer.get(at)).json).toEqual(asked.json)
    expect(await post(developer, 'subscribe')).toMatchObject({ status: 304, text: '' })
  })

  test('D3-MR-UNSUBSCRIBE-304: is no longer who takes it back; 304 when he was not told', async ({ world }) => {
    const { developer, post, isTold } = await opened(world)
    expect(await post(developer, 'unsubscribe')).toMatchObject({ status: 304, text: '' })
    await post(developer, 'subscribe')
    expect(await post(developer, 'unsubscribe')).toMatchObject({ status: 201, json: { iid: 1, subscribed: false } })
    expect(await isTold(developer)).toBe(false)
    expect((await post(developer, 'unsubscribe')).status).toBe(304)
  })

  test('is who takes part, unless he chose otherwise', async ({ world }) => {
    const [author, talker, named, assignee] = [
      await world.user(),
      await world.user(),
      await world.user(),
      await world.user(),
    ]
    const { at, isTold, post } = await opened(world, {
      members: [
        [author, 'developer'],
        [assignee, 'developer'],
      ],
      author,
      assignee_ids: [assignee.id],
      description: `For @${named.username}`,
    })
    expect(await isTold(talker)).toBe(false)
    await talker.post(`${at}/notes`, { body: 'Hello' })
    for (const who of [author, talker, named, assignee]) expect(await isTold(who)).toBe(true)
    expect((await post(author, 'subscribe')).status).toBe(304)
    expect((await post(author, 'unsubscribe')).status).toBe(201)
    expect(await isTold(author)).toBe(false)
    await author.post(`${at}/notes`, { body: 'More' })
    expect(await isTold(author)).toBe(false)
    // What was told of somebody is not what he said.
    expect(await isTold(world.root)).toBe(false)
    await world.root.post(`${at}/time_estimate`, { duration: '1h' })
    expect(await isTold(world.root)).toBe(false)
  })

  test('are developers, and authors and assignees, whoever they are', async ({ world }) => {
    const [author, reporter] = [await world.user(), await world.user()]
    const { post, project } = await opened(world, {
      members: [
        [author, 'developer'],
        [reporter, 'reporter'],
      ],
      author,
    })
    await world.root.delete(`/projects/${project.id}/members/${author.id}`)
    expect((await post(author, 'unsubscribe')).status).toBe(201)
    expect((await post(reporter, 'subscribe')).status).toBe(403)
    expect((await post(world.anonymous, 'subscribe')).status).toBe(401)
  })
})
