import { expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { storedProject } from './testing.ts'

test('GET …/commits/:sha/sequence counts the history of a commit', async ({ world }) => {
  const project = await storedProject(world, { visibility: 'public' })
  const first = project.repository.commit({ a: '1' })
  const second = project.repository.commit({ a: '2' })
  const count = async (sha: string, query = '') =>
    (await world.anonymous.get(`/projects/${project.id}/repository/commits/${sha}/sequence${query}`)).json
  expect([await count(first), await count(second), await count('main')]).toEqual([
    { count: 1 },
    { count: 2 },
    { count: 2 },
  ])
  const tree = project.repository.git('rev-parse', 'main^{tree}').trim()
  const side = project.repository.git('commit-tree', '-p', first, '-m', 'side', tree).trim()
  const merge = project.repository.git('commit-tree', '-p', second, '-p', side, '-m', 'merge', tree).trim()
  project.repository.git('update-ref', 'refs/heads/merged', merge)
  expect([await count('merged'), await count('merged', '?first_parent=true')]).toEqual([{ count: 4 }, { count: 3 }])
  expect(await count('none')).toEqual({ message: '404 Commit Not Found' })
})
