import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { gitIn, TestGit } from '../testing.ts'
import { listSizedFiles } from './sized-files.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

/** The commands of the git processes that `work` starts for the repository. */
async function started(repo: Awaited<ReturnType<TestGit['repository']>>['repo'], work: () => Promise<void>) {
  const commands: string[] = []
  const start = repo.start.bind(repo)
  repo.start = (command, ...how) => {
    commands.push(command)
    return start(command, ...how)
  }
  await work()
  return commands
}

test('files with their sizes are listed without a process until they are packed, and as git lists them', async () => {
  const made = await world.repository()
  const { repo, gitDir } = made
  const oid = made.commit({
    'a/b/c.ts': 'const one = 1\n',
    'a.ts': '',
    'a-b/ünï cödé': 'x',
    link: { mode: '120000', content: 'a.ts' },
    run: { mode: '100755', content: '#!/bin/sh\n' },
    sub: { mode: '160000', oid: 'c'.repeat(40) as Oid },
  })
  let loose: unknown[] = []
  expect(
    await started(repo, async () => {
      loose = [await listSizedFiles(repo, oid, 1_000), await listSizedFiles(repo, oid, 2)]
    }),
  ).toEqual([])
  expect(loose[0]).toMatchObject([
    { path: 'a-b/ünï cödé', sizeBytes: 1 },
    { path: 'a.ts', sizeBytes: 0 },
    { path: 'a/b/c.ts', sizeBytes: 14 },
    { path: 'run', sizeBytes: 10 },
  ])

  gitIn(gitDir, ['repack', '-adq'])
  repo.git.cache.clear()
  expect(
    await started(repo, async () => {
      expect([await listSizedFiles(repo, oid, 1_000), await listSizedFiles(repo, oid, 2)]).toEqual(loose)
    }),
  ).toEqual(['ls-tree', 'ls-tree'])
})

test('git lists the files of a commit that has many, a large one, or a tree that is packed', async () => {
  const made = await world.repository()
  const { repo, gitDir } = made
  const many = made.commit(Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`f${at}`, `${at}`])))
  expect(await listSizedFiles(repo, many, 1_000)).toHaveLength(120)
  const large = made.commit({
    ...Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`f${at}`, null])),
    large: 'x'.repeat(100_000),
  })
  expect(await listSizedFiles(repo, large, 1_000)).toMatchObject([{ path: 'large', sizeBytes: 100_000 }])
  gitIn(gitDir, ['repack', '-adq'])
  const above = made.commit({ 'd/new': 'y' })
  expect(await listSizedFiles(repo, above, 1_000)).toMatchObject([{ path: 'd/new' }, { path: 'large' }])
})
