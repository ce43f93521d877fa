import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { changesOfSide, pushesToSide } from '../../../../test/tables/side-repositories.ts'
import { git, test, type World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { updateRefs } from '../../../git/refs/update-refs.ts'
import { projectRepositoryDir } from '../../projects/repositories/location.ts'
import { openForWriting } from '../../projects/repositories/open.ts'
import { recordIntent } from '../pushes/journal.ts'
import { createSideRepository, findSideRepositoryById, type SideRepository } from '../side-repositories/queries.ts'
import { commitToSideRepository, mainRefOf, type SideEdit } from './commit.ts'

/** The right to push stays. */
const allowed = async () => {}

async function withWiki(world: World): Promise<{ ctx: Ctx; row: SideRepository; projectId: number; dir: string }> {
  const { id: projectId } = await world.project()
  const ctx = await contextFor(world, world.root)
  const row = await ctx.transaction((tx) => createSideRepository(tx, { kind: 'project_wiki', id: projectId }))
  return { ctx, row, projectId, dir: projectRepositoryDir(ctx, row) }
}

const commit = (ctx: Ctx, row: SideRepository, ...edits: SideEdit[]) =>
  commitToSideRepository(ctx, row, { message: 'Change', edits })

const filesOf = (dir: string) => git(dir, 'ls-tree', '-r', '--name-only', 'HEAD')

describe('commits to side repositories', () => {
  test('files are created, changed, moved and deleted, each commit with one event', async ({ world }) => {
    const { ctx, row, projectId, dir } = await withWiki(world)
    const first = await commit(
      ctx,
      row,
      { path: 'a.md', content: 'a' },
      { path: 'docs/b.md', content: Buffer.of(0, 255) },
    )
    await commit(ctx, row, { path: 'c.md', movedFrom: 'a.md' }, { path: 'docs/b.md', content: null })
    const { commit: last } = await commit(ctx, row, { path: 'd/e.md', movedFrom: 'c.md', content: 'e' })
    expect(await filesOf(dir)).toBe('d/e.md')
    expect(await git(dir, 'show', 'HEAD:d/e.md')).toBe('e')
    expect(await git(dir, 'fsck', '--strict', '--no-dangling')).toBe('')
    expect(last?.parents).not.toContain(first.commit?.oid)
    expect(await pushesToSide(world, row.id)).toEqual(
      [1, 2, 3].map(() => ({ id: expect.any(Number), state: 'done', transport: 'api', actor_id: world.root.id })),
    )
    const events = await changesOfSide(world, row.id)
    expect(events).toHaveLength(3)
    expect(events[0]).toMatchObject({ project_id: projectId, actor_id: world.root.id, payload: { ref_count: 1 } })
    expect((await findSideRepositoryById(ctx.db, row.id))?.default_branch).toBe('master')
  })

  test('edits that change nothing make no commit', async ({ world }) => {
    const { ctx, row } = await withWiki(world)
    const { commit: first } = await commit(ctx, row, { path: 'a', content: 'a' })
    expect((await commit(ctx, row, { path: 'a', content: 'a' })).commit?.oid).toBe(first?.oid)
    expect(await pushesToSide(world, row.id)).toHaveLength(1)
  })

  test('concurrent writers of different files all succeed, in one line of commits', async ({ world }) => {
    const { ctx, row, dir } = await withWiki(world)
    await Promise.all(Array.from({ length: 12 }, (_, n) => commit(ctx, row, { path: `${n}.md`, content: `${n}` })))
    expect(await git(dir, 'rev-list', '--count', 'HEAD')).toBe('12')
    expect((await filesOf(dir)).split('\n')).toHaveLength(12)
  })

  test('a conflict when the branch is not where the writer expects it', async ({ world }) => {
    const { ctx, row } = await withWiki(world)
    const { commit: first } = await commit(ctx, row, { path: 'a', content: 'a' })
    await commit(ctx, row, { path: 'a', content: 'b' })
    const late = (expectedHead: Oid | null) =>
      commitToSideRepository(ctx, row, { message: 'Late', edits: [{ path: 'a', content: 'c' }], expectedHead })
    await expect(late(first!.oid)).rejects.toMatchObject({ kind: 'conflict' })
    await expect(late(null)).rejects.toMatchObject({ kind: 'conflict' })
  })

  test.for<[string, SideEdit[], string]>([
    ['leaves the repository', [{ path: '../x', content: 'x' }], 'invalid'],
    ['is in .git', [{ path: '.git/config', content: 'x' }], 'invalid'],
    ['is absolute', [{ path: '/etc/x', content: 'x' }], 'invalid'],
    ['is below a file', [{ path: 'a/b', content: 'x' }], 'conflict'],
    ['is a folder', [{ path: 'docs', content: 'x' }], 'conflict'],
    ['does not exist', [{ path: 'missing', content: null }], 'conflict'],
    ['is moved from nowhere', [{ path: 'x', movedFrom: 'missing' }], 'conflict'],
    [
      'is a submodule list with a command',
      [{ path: '.gitmodules', content: '[submodule "x"]\n\turl = -u./x' }],
      'invalid',
    ],
  ])('a path that %s is refused, and nothing changes', async ([, edits, kind], { world }) => {
    const { ctx, row, dir } = await withWiki(world)
    await commit(ctx, row, { path: 'a', content: 'a' }, { path: 'docs/b', content: 'b' })
    await expect(commit(ctx, row, ...edits)).rejects.toMatchObject({ kind })
    expect(await filesOf(dir)).toBe('a\ndocs/b')
  })

  test('a writer that died between intent and result is completed once, with the event', async ({ world }) => {
    const { ctx, row, dir } = await withWiki(world)
    const { commit: first } = await commit(ctx, row, { path: 'a', content: 'a' })
    const repo = await openForWriting(ctx, row)
    const next = (await git(dir, 'commit-tree', '-p', first!.oid, '-m', 'next', `${first!.oid}^{tree}`)) as Oid
    const change = { name: mainRefOf(row), from: first!.oid, to: next }
    const lost = { name: mainRefOf(row), from: next, to: first!.oid }
    const push = { sideRepositoryId: row.id, actorId: null, transport: 'api' as const, options: [] }
    await recordIntent(ctx, { ...push, changes: [change] }, allowed)
    await updateRefs(repo, [change])
    // This one died before it moved the ref.
    await recordIntent(ctx, { ...push, changes: [lost] }, allowed)
    await world.recover()
    await world.recover()
    expect(await readRef(repo, mainRefOf(row))).toBe(next)
    expect((await pushesToSide(world, row.id)).map(({ state }) => state)).toEqual(['done', 'done', 'dropped'])
    expect(await changesOfSide(world, row.id)).toHaveLength(2)
  })

  test('a repository with another key is not adopted: it moves to lost+found, and the next write begins anew', async ({
    world,
  }) => {
    const { ctx, row, dir } = await withWiki(world)
    await commit(ctx, row, { path: 'a', content: 'a' })
    expect((await readFile(join(dir, 'stithy-project'), 'utf8')).trim()).toBe(row.repository_key)
    const other = await withWiki(world)
    await commit(ctx, other.row, { path: 'secret', content: 'b' })
    await rm(dir, { recursive: true })
    await rename(other.dir, dir)
    await commit(ctx, row, { path: 'c', content: 'c' })
    expect(await filesOf(dir)).toBe('c')
    const lost = await readdir(join(world.config.dataDir, 'lost+found'))
    expect(lost.filter((name) => name.startsWith(`default-side-${row.id}.git-`))).toHaveLength(1)
  })
})
