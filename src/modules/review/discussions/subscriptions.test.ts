import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

async function opened(world: World, more: Parameters<typeof openMergeRequest>[1] = {}) {
  const developer = await world.user()
  const made = await openMergeRequest(world, { members: [[developer, 'developer']], ...more })
  const post = (who: Client, verb: string) => who.post(`${made.at}/${verb}`)
  const isSubscribed = async (who: Client) => (await who.get(made.at)).json.subscribed
  return { ...made, developer, post, isSubscribed }
}

describe('subscriptions to merge requests', () => {
  test('D3-MR-SUBSCRIBE: subscribing returns the merge request, 304 when subscribed', async ({ world }) => {
    const { developer, post, isSubscribed, at } = await opened(world)
    expect(await isSubscribed(developer)).toBe(false)
    const asked = await post(developer, 'subscribe')
    expect(asked).toMatchObject({ status: 201, json: { iid: 1, title: 'Merge topic', subscribed: true } })
    expect((await developer.get(at)).json).toEqual(asked.json)
    expect(await post(developer, 'subscribe')).toMatchObject({ status: 304, text: '' })
  })

  test('one of several concurrent subscriptions or unsubscriptions of a user returns the merge request', async ({
    world,
  }) => {
    const { developer, post } = await opened(world)
    for (const verb of ['subscribe', 'unsubscribe']) {
      const answers = await Promise.all([1, 2, 3, 4].map(() => post(developer, verb)))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 304, 304, 304])
    }
  })

  test('D3-MR-UNSUBSCRIBE-304: unsubscribing ends the subscription, 304 when not subscribed', async ({ world }) => {
    const { developer, post, isSubscribed } = await opened(world)
    expect(await post(developer, 'unsubscribe')).toMatchObject({ status: 304, text: '' })
    await post(developer, 'subscribe')
    expect(await post(developer, 'unsubscribe')).toMatchObject({ status: 201, json: { iid: 1, subscribed: false } })
    expect(await isSubscribed(developer)).toBe(false)
    expect((await post(developer, 'unsubscribe')).status).toBe(304)
  })

  test('participants are subscribed unless they chose otherwise', async ({ world }) => {
    const [author, commenter, named, assignee] = [
      await world.user(),
      await world.user(),
      await world.user(),
      await world.user(),
    ]
    const { at, isSubscribed, post } = await opened(world, {
      members: [
        [author, 'developer'],
        [assignee, 'developer'],
      ],
      author,
      assignee_ids: [assignee.id],
      description: `For @${named.username}`,
    })
    expect(await isSubscribed(commenter)).toBe(false)
    await commenter.post(`${at}/notes`, { body: 'Hello' })
    for (const who of [author, commenter, named, assignee]) expect(await isSubscribed(who)).toBe(true)
    expect((await post(author, 'subscribe')).status).toBe(304)
    expect((await post(author, 'unsubscribe')).status).toBe(201)
    expect(await isSubscribed(author)).toBe(false)
    await author.post(`${at}/notes`, { body: 'More' })
    expect(await isSubscribed(author)).toBe(false)
    // A system note does not make its user a participant.
    expect(await isSubscribed(world.root)).toBe(false)
    await world.root.post(`${at}/time_estimate`, { duration: '1h' })
    expect(await isSubscribed(world.root)).toBe(false)
  })

  test('developers, authors and assignees may subscribe; 403 for other reporters', async ({ world }) => {
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
