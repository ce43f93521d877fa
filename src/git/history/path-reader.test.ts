import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestGit } from '../testing.ts'
import { inDag } from './dag.ts'
import { PathReader } from './path-reader.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

test.for([
  [6, 'found to be absent', { entry: undefined }],
  [5, 'left to git', undefined],
] as const)('with %i reads left, a path without its fifth directory is %s', async ([left, , result]) => {
  const made = await world.repository()
  const tip = made.commit({ 'a/b/c/d/file': 'x' })
  const read = await inDag(made.repo, [tip], async (dag) => {
    const reader = new PathReader(made.repo, dag, 'a/b/c/d/e/x', { left })
    return { entry: await reader.entry(dag.node(tip)) }
  })
  expect(read).toEqual(result)
})
