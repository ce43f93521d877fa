import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { storedProject } from './testing.ts'

describe('GET /projects/:id/repository/commits/:sha/refs', () => {
  test('D1-REFS-CONTAINING: refs of a commit are branches first, then tags', async ({ world }) => {
    const project = await storedProject(world)
    const first = project.repository.commit({ a: '1' })
    const second = project.repository.commit({ a: '2' })
    project.repository.git('branch', 'old', first)
    project.repository.git('tag', 'v1', first)
    project.repository.git('tag', '-a', '-m', 'two', 'v2', second)
    const of = (sha: string, query = '') =>
      world.root.get(`/projects/${project.id}/repository/commits/${sha}/refs${query}`)
    expect((await of(first)).json).toEqual([
      { type: 'branch', name: 'main' },
      { type: 'branch', name: 'old' },
      { type: 'tag', name: 'v1' },
      { type: 'tag', name: 'v2' },
    ])
    expect((await of(second)).json).toEqual([
      { type: 'branch', name: 'main' },
      { type: 'tag', name: 'v2' },
    ])
    expect((await of(first, '?type=tag')).json).toEqual([
      { type: 'tag', name: 'v1' },
      { type: 'tag', name: 'v2' },
    ])
    expect((await of(first, '?type=all&per_page=2&page=2')).json).toEqual([
      { type: 'tag', name: 'v1' },
      { type: 'tag', name: 'v2' },
    ])
    expect(await of(first, '?type=branch&per_page=1')).toMatchObject({
      json: [{ name: 'main' }],
      headers: { 'x-total': '2' },
    })
    expect(await of(first, '?type=note')).toMatchObject({
      status: 400,
      json: { error: 'type does not have a valid value' },
    })
    expect(await of('nope')).toMatchObject({ status: 404, json: { message: '404 Commit Not Found' } })
  })
})
