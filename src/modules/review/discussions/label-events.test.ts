import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

type Event = { action: string; label: { name: string } | null }

const labelEvents = async (who: Client, at: string): Promise<string[]> =>
  (await who.get(`${at}/resource_label_events`)).json.map(
    ({ action, label }: Event) => `${action} ${label?.name ?? '?'}`,
  )

describe('label events of merge requests', () => {
  test('D3-EVENTS-SHAPE: label events name user, label and action, in a list or singly', async ({ world }) => {
    const ann = await world.user()
    const { at, id, project } = await openMergeRequest(world, { labels: 'bug', members: [[ann, 'developer']] })
    await world.root.put(`/projects/${project.id}/labels/bug`, { color: '#fff', description: 'Broken' })
    await ann.put(at, { labels: '' })
    const label = (await ann.get(`/projects/${project.id}/labels/bug`)).json
    const event = (who: Client, action: string) => ({
      id: expect.any(Number),
      user: {
        id: who.id,
        username: who.username,
        name: expect.any(String),
        state: 'active',
        avatar_url: expect.toSatisfy((url) => url === null || typeof url === 'string'),
        web_url: `${world.origin}/${who.username}`,
      },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      resource_type: 'MergeRequest',
      resource_id: id,
      label: {
        id: label.id,
        name: 'bug',
        color: '#ffffff',
        description: 'Broken',
        description_html: 'Broken',
        text_color: '#333333',
      },
      action,
    })
    const listed = await ann.get(`${at}/resource_label_events`)
    expect(listed.status).toBe(200)
    expect(listed.json).toEqual([event(world.root, 'add'), event(ann, 'remove')])
    expect((await ann.get(`${at}/resource_label_events/${listed.json[1].id}`)).json).toEqual(listed.json[1])
    const elsewhere = await openMergeRequest(world, { labels: 'bug' })
    for (const path of [
      `${at}/resource_label_events/999999999`,
      `${elsewhere.at}/resource_label_events/${listed.json[0].id}`,
    ])
      expect(await ann.get(path)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
  })

  test('there is one label event per label, oldest first, and none without a change', async ({ world }) => {
    const { at } = await openMergeRequest(world, { labels: 'two,one' })
    expect(await labelEvents(world.root, at)).toEqual(['add one', 'add two'])
    await world.root.put(at, { labels: 'one,two' })
    await world.root.put(at, { title: 'Other' })
    expect(await labelEvents(world.root, at)).toHaveLength(2)
    await world.root.put(at, { labels: 'two,three' })
    expect(await labelEvents(world.root, at)).toEqual(['add one', 'add two', 'remove one', 'add three'])
    const second = (await world.root.get(`${at}/resource_label_events?per_page=1&page=3`)).json
    expect(second).toMatchObject([{ action: 'remove' }])
  })

  test('label events show the current name of a label and outlive it', async ({ world }) => {
    const { at, project } = await openMergeRequest(world, { labels: 'old,gone' })
    await world.root.put(`/projects/${project.id}/labels/old`, { new_name: 'new' })
    await world.root.delete(`/projects/${project.id}/labels/gone`)
    expect(await labelEvents(world.root, at)).toEqual(['add ?', 'add new'])
    expect((await world.root.get(`${at}/resource_label_events`)).json[0].label).toBeNull()
  })

  test('D3-EVENTS-INT-IDS: 400 for label events unless ids are integers', async ({ world }) => {
    const { at, project } = await openMergeRequest(world)
    expect(await world.root.get(`${at}/resource_label_events/x`)).toMatchObject({
      status: 400,
      json: { error: 'resource_label_event_id is invalid' },
    })
    expect(await world.root.get(`/projects/${project.id}/merge_requests/x/resource_label_events`)).toMatchObject({
      status: 400,
      json: { error: 'merge_request_iid is invalid' },
    })
  })

  test('D3-MR-AUTH: 401 for label events without a token', async ({ world }) => {
    const { at } = await openMergeRequest(world, { labels: 'bug' })
    expect((await world.anonymous.get(`${at}/resource_label_events`)).status).toBe(401)
    expect((await world.anonymous.get(`${at}/resource_label_events/1`)).status).toBe(401)
  })
})
