import { availableParallelism } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCommit } from '../objects/commits.ts'
import { type TestFile, TestGit } from '../testing.ts'
import type { PatchLimits } from './patch-reader.ts'
import { patchesBetweenTrees } from './patches.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const plenty: PatchLimits = { files: 10_000, lines: 500_000, bytes: 20 * 1024 * 1024, fileBytes: 200 * 1024 }

const many = (count: number, content: (at: number) => TestFile): Record<string, TestFile> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`d${at % 17}/e${at % 3}/f${at}.txt`, content(at)]))

/** The same diff, read by several processes and by one. */
async function bothWays(before: Record<string, TestFile>, after: Record<string, TestFile>, limits = plenty) {
  const made = await world.repository()
  const { repo } = made
  const [old, now] = [made.commit(before), made.commit(after)]
  const [from, to] = [(await readCommit(repo, old))!.tree, (await readCommit(repo, now))!.tree]
  let processes = 0
  const start = repo.start.bind(repo)
  repo.withSignal = () => repo
  repo.start = (...words) => {
    processes++
    return start(...words)
  }
  const wide = await patchesBetweenTrees(repo, from, to, limits, { wide: true })
  const started = processes
  repo.git.cache.clear()
  return { wide, one: await patchesBetweenTrees(repo, from, to, limits), processes: started }
}

const several = Math.min(4, availableParallelism())

describe('diffs read by several processes', () => {
  const old = many(300, (at) => `one\ntwo ${at}\nthree\n`)
  const now = many(300, (at) => (at % 7 === 0 ? null : `one\nchanged ${at}\nthree\n`))

  test('a diff read by several processes equals that of one process', async () => {
    const kinds = {
      README: 'new',
      'd3/binary': Buffer.from([0, 1, 2]),
      'd3.txt': 'between a directory and its neighbour\n',
      'ünï/ä b': { mode: '100755', content: 'x' } as const,
      'd4/link': { mode: '120000', content: 'README' } as const,
    }
    const { wide, one, processes } = await bothWays(old, {
      ...now,
      ...kinds,
      'd5/e2/f5.txt': { mode: '120000', content: 'x' },
    })
    expect(wide).toEqual(one)
    expect(wide.files.length).toBeGreaterThan(300)
    expect(processes).toBe(several)
  })

  test('a diff with renames or files that became directories is read by one process, a small one by none', async () => {
    const moved = { 'd0/e0/f0.txt': null, 'z/moved': 'one\ntwo 0\nthree\n', 'z/new': 'new' }
    const turned = { 'd.txt': null, 'd.txt/x': 'something else\n' }
    for (const [before, after, expected] of [
      [old, { ...many(300, (at) => `one\nchanged ${at}\nthree\n`), ...moved }, 1],
      [many(30, () => 'a'), many(30, () => 'b'), 0],
      [{ ...old, 'd.txt': 'a file\n', 'd.txt.more': '1' }, { ...now, ...turned, 'd.txt.more': '2' }, 1],
    ] as const) {
      const { wide, one, processes } = await bothWays(before, after)
      expect(wide).toEqual(one)
      expect(processes).toBe(expected)
    }
  })

  test('a diff read by several processes ends at the same limits', async () => {
    for (const limits of [
      { ...plenty, files: 200 },
      { ...plenty, lines: 500 },
      { ...plenty, bytes: 2000 },
      { ...plenty, fileBytes: 20 },
    ]) {
      const { wide, one } = await bothWays(old, now, limits)
      expect(wide).toEqual(one)
    }
  })
})
