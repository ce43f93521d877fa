import { setImmediate } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { contextFor, locate } from '../../../../test/contexts.ts'
import { test, type World } from '../../../../test/world.ts'
import { TreeEdit } from '../../../git/objects/tree-edit.ts'
import { openRepository } from '../../projects/repositories/open.ts'
import { applyActions, type FileAction } from './file-actions.ts'
import { storedProject } from './testing.ts'

const levels = 2000
const deep = (n: number): string => `${n}/${'a/'.repeat(levels)}f`

const creations = (count: number, path: (n: number) => string): FileAction[] =>
  Array.from({ length: count }, (_, n) => ({ action: 'create', file_path: path(n), content: String(n) }))

const commit = async (world: World, id: number, actions: readonly FileAction[], more: object = {}) =>
  world.root.post(`/projects/${id}/repository/commits`, { branch: 'main', commit_message: 'Change', actions, ...more })

describe('commits of files in very many directories', () => {
  test('a commit is refused that would make more than 50,000 directories, each of which is an object in memory', async ({
    world,
  }) => {
    const { id, repository } = await storedProject(world)
    const head = repository.commit({ a: '1' })
    const refused = await commit(world, id, creations(26, deep))
    expect(refused).toMatchObject({
      status: 413,
      json: {
        message: '413 The files are in too many directories: one commit can change files in 50000',
      },
    })
    expect(repository.git('rev-parse', 'main')).toBe(head)
    expect((await commit(world, id, creations(2, deep))).status).toBe(201)
  })

  test('a commit is refused whose paths lead through the same directories millions of times', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ a: '1' })
    const through = (n: number) => `${'b/'.repeat(levels)}${n}`
    expect((await commit(world, id, creations(1000, through))).status).toBe(413)
    expect((await commit(world, id, creations(100, through))).status).toBe(201)
  })

  test('other requests have their turn while the tree of thousands of files is made', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: '1' })
    const ctx = await contextFor(world, world.root)
    const repo = openRepository(ctx, await locate(world, project.id))
    const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
      let [turns, isOver] = [0, false]
      const counting = (async () => {
        while (!isOver) {
          await setImmediate()
          turns++
        }
      })()
      await work()
      isOver = true
      await counting
      return turns
    }
    const edit = await TreeEdit.of(repo, undefined)
    const actions = creations(12_000, (n) => `${n}/b/c/f`)
    expect(await turnsDuring(() => applyActions(repo, edit, actions))).toBeGreaterThan(2)
    expect(await turnsDuring(() => edit.finish())).toBeGreaterThan(2)
  })
})
