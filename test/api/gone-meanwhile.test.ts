import { describe, expect } from 'vitest'
import { contextFor } from '../contexts.ts'
import { deleteProjectRow } from '../tables/projects.ts'
import { deleteUserRow } from '../tables/users.ts'
import { test, unique } from '../world.ts'

/*
 * Requests that find a project or user, and whose transaction waits until its removal has ended.
 */
describe('what a request refers to is deleted meanwhile', () => {
  test.for([
    { what: 'labels', body: { name: 'late', color: '#ff0000' } },
    { what: 'milestones', body: { title: 'late' } },
    { what: 'variables', body: { key: 'LATE', value: 'late value' } },
    { what: 'star', body: {} },
    { what: 'custom_attributes/late', method: 'put', body: { value: 'late' } },
    { what: 'badges', body: { link_url: 'https://example.com/a', image_url: 'https://example.com/b' } },
  ] as const)('404 for $what of a project whose removal ends', async ({ what, body, ...rest }, { world }) => {
    const { id } = (await world.root.post('/projects', { path: unique('late') })).json
    const method = 'method' in rest ? rest.method : 'post'
    const { answer } = await (await contextFor(world, null)).transaction(async (tx) => {
      await deleteProjectRow(tx, id)
      const answer = world.root[method](`/projects/${id}/${what}`, body)
      await world.waitsForLock()
      return { answer }
    })
    expect(await answer).toMatchObject({ status: 404 })
  })

  test('404 for the status of a user whose removal ends', async ({ world }) => {
    const zoe = await world.user()
    const { answer } = await (await contextFor(world, null)).transaction(async (tx) => {
      await deleteUserRow(tx, zoe.id)
      const answer = zoe.put('/user/status', { message: 'late' })
      await world.waitsForLock()
      return { answer }
    })
    expect(await answer).toMatchObject({ status: 404 })
  })
})
