import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'

const path = '/broadcast_messages'
const soon = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

describe('broadcast messages', () => {
  test('administrators write broadcast messages, and everyone reads them', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await world.root.post(path, { message: 'We move tonight' })).json
    for (const who of [world.anonymous, ann, world.root]) {
      expect((await who.get(`${path}/${id}`)).json.message).toBe('We move tonight')
      expect((await who.get(path)).json[0].id).toBe(id)
    }
    for (const ask of [
      () => ann.post(path, { message: 'x' }),
      () => ann.put(`${path}/${id}`, { message: 'x' }),
      () => ann.delete(`${path}/${id}`),
    ])
      expect(await ask()).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    expect((await world.anonymous.post(path, { message: 'x' })).status).toBe(401)
  })

  test('a broadcast message starts now and lasts an hour by default', async ({ world }) => {
    const { status, json } = await world.root.post(path, { message: 'Soon' })
    expect(status).toBe(201)
    expect(json).toMatchObject({
      color: '#E75E40',
      font: '#FFFFFF',
      target_path: null,
      broadcast_type: 'banner',
      dismissable: false,
      active: true,
    })
    expect(Date.parse(json.ends_at) - Date.parse(json.starts_at)).toBeCloseTo(3_600_000, -4)
    const later = await world.root.post(path, { message: 'Later', starts_at: soon(1), ends_at: soon(2) })
    expect(later.json.active).toBe(false)
  })

  test('broadcast messages can be changed and deleted', async ({ world }) => {
    const made = (await world.root.post(path, { message: 'Careful', target_path: '*/issues' })).json
    const changed = await world.root.put(`${path}/${made.id}`, { ends_at: soon(-1), broadcast_type: 'notification' })
    expect(changed).toMatchObject({
      status: 200,
      json: { message: 'Careful', target_path: '*/issues', broadcast_type: 'notification', active: false },
    })
    expect((await world.root.put(`${path}/${made.id}`, { target_path: null })).json.target_path).toBe(null)
    expect((await world.root.delete(`${path}/${made.id}`)).status).toBe(204)
    for (const ask of [
      () => world.root.get(`${path}/${made.id}`),
      () => world.root.put(`${path}/${made.id}`, { message: 'x' }),
      () => world.root.delete(`${path}/${made.id}`),
    ])
      expect(await ask()).toMatchObject({ status: 404, json: { message: '404 Not found' } })
  })

  test('400 for a broadcast message without a text or with invalid colors', async ({ world }) => {
    expect(await world.root.post(path, {})).toMatchObject({ status: 400, json: { error: 'message is missing' } })
    expect(await world.root.post(path, { message: ' ', color: 'red', font: '#12' })).toMatchObject({
      status: 400,
      json: {
        message: {
          message: ["can't be blank"],
          color: ['must be a valid color code'],
          font: ['must be a valid color code'],
        },
      },
    })
    expect(await world.root.post(path, { message: 'x', broadcast_type: 'shout' })).toMatchObject({
      status: 400,
      json: { error: 'broadcast_type does not have a valid value' },
    })
  })
})
