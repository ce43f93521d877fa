import { watch } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { repositoriesDir } from '../../src/config.ts'
import { repositoryDir } from '../../src/modules/projects/repositories/location.ts'
import { countRefs, movedRefs } from '../tables/pushes.ts'
import { git, type TestProject, temporaryFolder, test, type World } from '../world.ts'

/** More than the server updates in one transaction. */
const many = 600

/** A repository with branches `b0` to `b<count - 1>` at one commit and an annotated tag, created without a process for each. */
async function source(folder: string, count: number): Promise<{ work: string; oid: string }> {
  await git(folder, 'init', '-q', '-b', 'main', 'work')
  const work = join(folder, 'work')
  await git(work, 'commit', '-q', '--allow-empty', '-m', 'First commit')
  await git(work, 'tag', '-a', '-m', 'One', 'v1')
  const oid = await git(work, 'rev-parse', 'HEAD')
  const tag = await git(work, 'rev-parse', 'v1')
  const names = Array.from({ length: count }, (_, n) => `refs/heads/b${n}`).sort()
  await writeFile(
    join(work, '.git/packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${names.map((name) => `${oid} ${name}\n`).join('')}${tag} refs/tags/v1\n^${oid}\n`,
  )
  return { work, oid }
}

/** Runs git and resolves with its output and messages, whatever its exit code. */
const attempt = (work: string, ...args: string[]): Promise<string> =>
  git(work, ...args).then(
    (stdout) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  )

const refsOf = (work: string, remote: string): Promise<string[]> =>
  git(work, 'ls-remote', remote).then((text) => text.split('\n').map((line) => line.split('\t').reverse().join(' ')))

const journal = (world: World, project: TestProject): Promise<{ moved: boolean; count: number }[]> =>
  countRefs(world, project.id)

describe('pushes of many refs', () => {
  test('a push of many refs updates all of them and records each in the journal once', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { work, oid } = await source(folder.path, many)
    const project = await world.project()
    const remote = world.remote(project, world.root)
    await git(work, 'push', '-q', remote, 'refs/heads/*:refs/heads/*', 'v1')
    const refs = await refsOf(work, remote)
    // HEAD, main, the branches, the tag and what it points to.
    expect(refs).toHaveLength(many + 4)
    expect(refs).toContain(`refs/heads/b${many - 1} ${oid}`)
    expect(refs).toContain(`refs/tags/v1^{} ${oid}`)
    expect(await journal(world, project)).toEqual([{ moved: true, count: many + 2 }])
    await git(work, 'push', '-q', '--prune', remote, 'main:main', 'refs/heads/b1*:refs/heads/b1*')
    expect(await git(work, 'push', '-q', '--delete', remote, ...Array.from({ length: 550 }, (_, n) => `b${n}`))).toBe(
      '',
    )
    expect(await refsOf(work, remote)).toHaveLength(many + 4 - 550)
  })

  test.for([false, true])(
    'a push writes the list of packed refs once for all deletions (atomic: %s)',
    async (atomic, { world }) => {
      await using folder = await temporaryFolder()
      const { work } = await source(folder.path, 40)
      const project = await world.project()
      const remote = world.remote(project, world.root)
      await git(work, 'push', '-q', remote, 'main', 'refs/heads/b*:refs/tags/b*')
      const dir = repositoryDir(repositoriesDir(world.config), 'default', project.id)
      await git(dir, 'pack-refs', '--all')
      const changed: string[] = []
      await using stack = new AsyncDisposableStack()
      const watcher = stack.adopt(watch(dir), (each) => each.close())
      watcher.on('change', (_, name) => changed.push(String(name)))
      const names = Array.from({ length: 30 }, (_, n) => `refs/tags/b${n}`)
      await git(work, 'push', '-q', ...(atomic ? ['--atomic'] : []), '--delete', remote, ...names)
      expect((await readFile(join(dir, 'packed-refs'), 'utf8')).match(/refs\/tags\//g)).toHaveLength(10)
      // The last of the changes.
      await writeFile(join(dir, 'end'), '')
      await expect.poll(() => changed).toContain('end')
      expect(changed.filter((name) => name === 'packed-refs')).toHaveLength(1)
    },
  )

  test('a push of many refs updates the others when one is stale or its name collides', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { work, oid } = await source(folder.path, 40)
    const project = await world.project()
    const remote = world.remote(project, world.root)
    await git(work, 'push', '-q', remote, 'main')
    const first = await world.root.post(`/projects/${project.id}/repository/branches`, { branch: 'c/d', ref: 'main' })
    expect(first.status).toBe(201)
    await git(work, 'update-ref', 'refs/heads/c', oid)
    const output = await attempt(work, 'push', '--porcelain', remote, 'refs/heads/*:refs/heads/*')
    expect(output).toMatch(/^!\s+refs\/heads\/c:refs\/heads\/c\s/m)
    expect(output.match(/^\*\s/gm)).toHaveLength(40)
    expect(await refsOf(work, remote)).toHaveLength(1 + 1 + 1 + 40)
    expect(await movedRefs(world, project.id)).toHaveLength(1 + 1 + 40)
  })

  test.for([40, many])('an atomic push of %i refs updates none when one collides', async (count, { world }) => {
    await using folder = await temporaryFolder()
    const { work, oid } = await source(folder.path, count)
    const project = await world.project()
    const remote = world.remote(project, world.root)
    await git(work, 'push', '-q', remote, 'main')
    await world.root.post(`/projects/${project.id}/repository/branches`, { branch: 'c/d', ref: 'main' })
    await git(work, 'update-ref', 'refs/heads/c', oid)
    await attempt(work, 'push', '--atomic', remote, 'refs/heads/*:refs/heads/*')
    expect(await refsOf(work, remote)).toHaveLength(3)
    await git(work, 'update-ref', '-d', 'refs/heads/c')
    await git(work, 'push', '-q', '--atomic', remote, 'refs/heads/*:refs/heads/*')
    expect(await refsOf(work, remote)).toHaveLength(3 + count)
  })

  test('a push deletes existing refs and warns of missing ones', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { work } = await source(folder.path, 3)
    const project = await world.project()
    const remote = world.remote(project, world.root)
    await git(work, 'push', '-q', remote, 'main', 'b0', 'b1')
    // Git requests the deletion of a missing ref only if given its full name.
    const output = await attempt(work, 'push', '--porcelain', remote, ':refs/heads/b0', 'b2')
    expect(output).toMatch(/^-\s+:refs\/heads\/b0\s/m)
    expect((await refsOf(work, remote)).map((line) => line.split(' ')[0])).toEqual([
      'HEAD',
      'refs/heads/b1',
      'refs/heads/b2',
      'refs/heads/main',
    ])
  })

  test('a push refuses a branch that is not a commit and updates the other refs', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { work } = await source(folder.path, 3)
    const project = await world.project()
    const remote = world.remote(project, world.root)
    await git(work, 'push', '-q', remote, 'main')
    const tree = await git(work, 'rev-parse', 'HEAD^{tree}')
    const output = await attempt(work, 'push', '--porcelain', remote, `${tree}:refs/heads/tree`, 'b0', 'b1')
    expect(output).toMatch(/^!\s+.*refs\/heads\/tree/m)
    expect(await refsOf(work, remote)).toHaveLength(4)
  })

  test('a push updates the other refs when one is locked, and none when it is atomic', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { work } = await source(folder.path, 40)
    const project = await world.project()
    const remote = world.remote(project, world.root)
    await git(work, 'push', '-q', remote, 'main')
    const lock = join(repositoryDir(repositoriesDir(world.config), 'default', project.id), 'refs/heads/b17.lock')
    await writeFile(lock, '')
    const push = (...options: string[]) =>
      attempt(work, 'push', '--porcelain', ...options, remote, 'refs/heads/b*:refs/heads/b*')
    expect(await push('--atomic')).not.toMatch(/^\*\s/m)
    const output = await push()
    expect(output).toMatch(/^!\s+refs\/heads\/b17:refs\/heads\/b17\s.*being changed/m)
    expect(output.match(/^\*\s/gm)).toHaveLength(39)
    expect(await journal(world, project)).toEqual([
      { moved: false, count: 40 },
      { moved: true, count: 1 + 39 },
    ])
    await rm(lock)
    expect(await push()).toMatch(/^\*\s.*b17/m)
    expect((await refsOf(work, remote)).filter((line) => line.startsWith('refs/heads/b'))).toHaveLength(40)
  })
})
