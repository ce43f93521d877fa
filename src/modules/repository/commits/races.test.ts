import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { deleteProjectRow } from '../../../../test/tables/projects.ts'
import { test, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { readRefs } from '../../../git/refs/refs.ts'
import { openRepository } from '../../projects/index.ts'
import { loadProject } from '../../projects/projects/subject.ts'
import { inTurn } from '../../pushes/index.ts'
import { deleteRef } from './delete-ref.ts'
import type { FileAction } from './file-actions.ts'
import { storedProject } from './testing.ts'
import { createCommit } from './write-service.ts'

/** A commit during which other processes commit as well: `meanwhile` runs before the branch moves. */
async function raced(
  world: World,
  action: FileAction,
  meanwhile: (attempt: number) => Record<string, string> | undefined,
) {
  const project = await storedProject(world)
  const first = project.repository.commit({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
  const ctx = await world.app.open({
    id: 1,
    username: 'root',
    name: 'Root',
    email: 'root@example.com',
    admin: true,
    external: false,
    canCreateGroup: true,
    projectsLimit: 1,
    scopes: undefined,
    tokenId: undefined,
  })
  let attempts = 0
  const intended: { readonly commit: Oid; readonly tip: string }[] = []
  const making = createCommit(ctx, {
    project: (await loadProject(String(project.id), ctx))!,
    branch: 'main',
    start: {},
    actions: [action],
    message: 'Mine',
    get author() {
      const files = meanwhile(++attempts)
      if (files) project.repository.commit(files, { message: `Theirs ${attempts}` })
      return {}
    },
    refusal: 'invalid',
    stale: () => 'stale',
    async intend(commit) {
      intended.push({ commit, tip: project.repository.git('rev-parse', 'main') })
    },
  })
  const outcome = await making.then(
    () => 'made',
    (error: Error) => error.message,
  )
  return { outcome, attempts, first, intended, git: (...args: string[]) => project.repository.git(...args) }
}

const update: FileAction = { action: 'update', file_path: 'a.txt', content: 'mine\n' }

describe('branches that move during a commit', () => {
  test('each commit is named before the branch moves to it, the last of them being the one on the branch', async ({
    world,
  }) => {
    const { intended, git } = await raced(world, update, (n) => (n === 1 ? { other: 'x' } : undefined))
    expect(intended).toHaveLength(2)
    expect(intended.map(({ tip }) => tip)).toEqual(intended.map(() => git('rev-parse', 'main^')))
    expect(intended[0]!.commit).not.toBe(intended[1]!.commit)
    expect(intended[1]!.commit).toBe(git('rev-parse', 'main'))
  })

  test('a commit is rebuilt on concurrent commits to other files', async ({ world }) => {
    const { outcome, attempts, git } = await raced(world, update, (n) => (n < 3 ? { [`other-${n}`]: 'x' } : undefined))
    expect([outcome, attempts]).toEqual(['made', 3])
    expect(git('log', '--format=%s', 'main')).toBe('Mine\nTheirs 2\nTheirs 1\nChange')
    expect(git('ls-tree', '--name-only', 'main')).toBe('a.txt\nb.txt\nother-1\nother-2')
    expect(git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  test.for([
    ['an update', update, { 'a.txt': 'theirs\n' }],
    ['a removal', { action: 'delete', file_path: 'a.txt' }, { 'a.txt': 'theirs\n' }],
    ['a new file', { action: 'create', file_path: 'c/d', content: '' }, { 'c/d': 'theirs\n' }],
    ['a move', { action: 'move', file_path: 'z', previous_path: 'a.txt' }, { 'a.txt': 'theirs\n' }],
    ['the target of a move', { action: 'move', file_path: 'z', previous_path: 'a.txt' }, { z: 'theirs\n' }],
  ] as const)('D1-FILE-FAIL-STALE: refused after %s of the same file', async ([, action, files], { world }) => {
    const { outcome, git } = await raced(world, action as FileAction, () => files)
    expect(outcome).toBe('Could not update branch main. Please refresh and try again.')
    expect(git('log', '--format=%s', 'main')).toBe('Theirs 1\nChange')
  })

  test('a commit to a branch that never stops moving is given up', async ({ world }) => {
    const { outcome, attempts, git } = await raced(world, update, (n) => ({ other: `${n}` }))
    expect(outcome).toBe('Could not update branch main. Please refresh and try again.')
    expect(git('log', '--format=%s', 'main').split('\n')).toHaveLength(attempts + 1)
  })

  test('a deletion of the branch takes its turn after a writer that has begun', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ 'a.txt': 'a\n' }, { branch: 'topic' })
    const ctx = await contextFor(world, world.root)
    const project = (await loadProject(String(id), ctx))!
    const repo = openRepository(ctx, project)
    const name = branchRef('topic')!
    const order: string[] = []
    const writing = Promise.withResolvers<void>()
    const writer = inTurn(repo, name, () => writing.promise.then(() => void order.push('writer')))
    const deletion = deleteRef(ctx, project, repo, name, async () => void order.push('deletion'))
    // Longer than the deletion would need without turns, which reads the ref once.
    for (let n = 0; n < 5; n++) await readRefs(repo, [name])
    writing.resolve()
    await Promise.all([writer, deletion])
    expect(order).toEqual(['writer', 'deletion'])
    expect(repository.git('branch', '--list', 'topic')).toBe('')
  })
})

test.for([
  ['commit', 'files/b.txt', { branch: 'main', content: 'b', commit_message: 'Late' }],
  ['branch', 'branches', { branch: 'late', ref: 'main' }],
  ['tag', 'tags', { tag_name: 'late', ref: 'main' }],
] as const)('a new %s of a project that is removed meanwhile is refused', async ([, path, body], { world }) => {
  const project = await storedProject(world)
  project.repository.commit({ 'a.txt': 'a\n' })
  const { answer } = await (await contextFor(world, null)).transaction(async (tx) => {
    await deleteProjectRow(tx, project.id)
    const made = world.root.post(`/projects/${project.id}/repository/${path}`, body)
    await world.waitsForLock()
    return { answer: made }
  })
  expect((await answer).status).toBe(400)
})
