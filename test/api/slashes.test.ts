import { expect } from 'vitest'
import { test, unique } from '../world.ts'

test('a double slash is read as one unless that is ambiguous', async ({ world }) => {
  const name = unique('switch')
  expect((await world.root.post(`/features//${name}`, { value: true })).status).toBe(201)
  expect((await world.root.get('/features')).json).toContainEqual(expect.objectContaining({ name }))
  expect((await world.root.get('//api/v4///version')).status).toBe(200)
  expect((await world.root.get('/projects//999999999//members.json')).json).toEqual({
    message: '404 Project Not Found',
  })
  expect((await world.root.delete(`/features//${name}`)).status).toBe(204)
  expect((await world.anonymous.post(`/features//${name}`, { value: true })).status).toBe(401)
  expect((await world.root.put(`/features//${name}`)).status).toBe(405)
  expect((await world.root.get('/nothing//here')).json).toEqual({ error: '404 Not Found' })
  // An encoded slash is part of a name.
  expect((await world.root.get('/projects/a%2F%2Fb')).json).toEqual({ message: '404 Project Not Found' })
})
