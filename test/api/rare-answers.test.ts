import { describe, expect } from 'vitest'
import { openIssue } from '../../src/modules/planning/issues/testing.ts'
import { test, unique } from '../world.ts'

describe('operations that no other test calls with success', () => {
  test('an audit event of a group is the one of the list', async ({ world }) => {
    const { id } = await world.group()
    const [event] = (await world.root.get(`/groups/${id}/audit_events`)).json
    expect(await world.root.get(`/groups/${id}/audit_events/${event.id}`)).toMatchObject({ status: 200, json: event })
  })

  test('a variable of the instance is found by its key', async ({ world }) => {
    const key = unique('KEY').replaceAll('-', '_')
    const made = await world.root.post('/admin/ci/variables', { key, value: 'value' })
    expect(made.status).toBe(201)
    expect(await world.root.get(`/admin/ci/variables/${key}`)).toMatchObject({ status: 200, json: made.json })
    await world.root.delete(`/admin/ci/variables/${key}`)
  })

  test('awards and label events of an issue are found by their id', async ({ world }) => {
    const { at } = await openIssue(world, { labels: 'bug' })
    const note = (await world.root.post(`${at}/notes`, { body: 'Yes' })).json
    for (const awarded of [at, `${at}/notes/${note.id}`]) {
      const award = (await world.root.post(`${awarded}/award_emoji`, { name: 'tada' })).json
      const found = await world.root.get(`${awarded}/award_emoji/${award.id}`)
      expect(found).toMatchObject({ status: 200, json: award })
    }
    const [event] = (await world.root.get(`${at}/resource_label_events`)).json
    const found = await world.root.get(`${at}/resource_label_events/${event.id}`)
    expect(found).toMatchObject({ status: 200, json: event })
  })
})
