import { describe, expect } from 'vitest'
import { test } from '../../../test/world.ts'

describe('GET /user', () => {
  test('shows the caller', async ({ world }) => {
    const ann = await world.user({ name: 'Ann' })
    expect(await ann.get('/user')).toMatchObject({
      status: 200,
      json: { id: ann.id, name: 'Ann', projects_limit: 100000 },
    })
    expect((await ann.get('/user')).json).not.toHaveProperty('is_admin')
    expect((await world.root.get('/user')).json).toMatchObject({ id: 1, is_admin: true })
  })
  test('is 401 for nobody and for a token nobody has', async ({ world }) => {
    expect(await world.anonymous.get('/user')).toMatchObject({ status: 401, json: { message: '401 Unauthorized' } })
    expect(await world.anonymous.get('/projects', { headers: { 'private-token': 'wrong' } })).toMatchObject({
      status: 401,
    })
  })
})
