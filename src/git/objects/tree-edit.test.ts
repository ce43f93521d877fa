import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { TestGit } from '../testing.ts'
import { TreeEdit } from './tree-edit.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

test('removal of a path in a directory that does not exist is refused, and removes nothing of the same name above', async () => {
  const made = await world.repository()
  made.commit({ 'a.txt': 'kept', file: 'no directory' })
  const tree = made.git('rev-parse', 'HEAD^{tree}') as Oid
  const edit = await TreeEdit.of(made.repo, tree)
  for (const path of ['none/a.txt', 'file/a.txt']) await expect(edit.remove(path)).rejects.toThrow('nothing to remove')
  expect((await edit.finish()).tree).toBe(tree)
})
