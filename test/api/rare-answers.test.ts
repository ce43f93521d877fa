import { describe, expect } from 'vitest'
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
})
