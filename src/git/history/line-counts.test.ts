import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { type TestFile, TestGit, type TestRepository } from '../testing.ts'
import { encodeLineCounts, type LineCount, lineCounts } from './line-counts.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const placeOf = ({ gitDir }: TestRepository) => join(gitDir, 'objects/info/stithy-line-counts')

function countOfGit(made: TestRepository, oid: Oid): LineCount {
  const lines = made.git('show', '--format=', '--numstat', '-M', '--root', oid).split('\n')
  const sum = (column: number) =>
    lines.reduce((sum, line) => sum + (Number.parseInt(line.split('\t')[column] ?? '', 10) || 0), 0)
  return { additions: sum(0), deletions: sum(1) }
}

/** Commits that add, change, rename and delete files; some change nothing. */
function history(made: TestRepository, count: number): Oid[] {
  const text = (seed: number) =>
    Array.from({ length: 5 + (seed % 17) }, (_, line) => `${(line * seed) % 13}\n`).join('')
  const kinds: readonly ((n: number) => Record<string, TestFile>)[] = [
    (n) => ({ [`folder/${n}`]: text(n), same: text(n % 3) }),
    (n) => ({ [`folder/${n}`]: text(n), [`moved/${n}`]: text(n), binary: Buffer.from([0, n % 256]) }),
    (n) => ({ [`moved/${n - 1}`]: null, [`again/${n - 1}`]: text(n - 1) }),
    () => ({}),
    (n) => ({ script: { mode: '100755', content: text(n) }, 'with "quotes"\tand 1 insertion': text(n) }),
  ]
  return Array.from({ length: count }, (_, n) => made.commit(kinds[n % kinds.length]!(n)))
}

test('the lines of commits are those that git counts, the first time and when they are remembered', async () => {
  const made = await world.repository()
  const commits = history(made, 40)
  const expected = new Map(commits.map((oid) => [oid, countOfGit(made, oid)]))
  expect(await lineCounts(made.repo, commits)).toEqual(expected)
  expect(await lineCounts(made.repo, commits)).toEqual(expected)
  expect(await lineCounts(made.repo, commits.slice(30))).toEqual(new Map([...expected].slice(30)))
  expect(await lineCounts(made.repo, [])).toEqual(new Map())
})

test('git counts only the commits that the file lacks, and all if it is damaged', async () => {
  const made = await world.repository()
  const commits = history(made, 30)
  const place = placeOf(made)
  const remembered = new Map(commits.slice(0, 25).map((oid, n) => [oid, { additions: 1000 + n, deletions: 2000 + n }]))
  writeFileSync(place, encodeLineCounts(remembered))
  const mixed = new Map(commits.map((oid) => [oid, remembered.get(oid) ?? countOfGit(made, oid)]))
  expect(await lineCounts(made.repo, commits)).toEqual(mixed)

  const expected = new Map(commits.map((oid) => [oid, countOfGit(made, oid)]))
  const content = readFileSync(place)
  for (const at of [0, 4, 8, 12, 40, content.length - 1]) {
    const damaged = Buffer.from(content)
    damaged[at]! ^= 1
    writeFileSync(place, damaged)
    expect(await lineCounts(made.repo, commits)).toEqual(expected)
    // It was written again.
    expect(readFileSync(place)).not.toEqual(damaged)
  }
  for (const length of [0, 5, 12, content.length - 1]) {
    writeFileSync(place, content.subarray(0, length))
    expect(await lineCounts(made.repo, commits)).toEqual(expected)
  }
})

test('the file has at most 2,000 commits, and a few new ones do not write it', async () => {
  const made = await world.repository()
  const commits = history(made, 25)
  await lineCounts(made.repo, commits.slice(0, 24))
  const before = readFileSync(placeOf(made))
  await lineCounts(made.repo, commits)
  expect(readFileSync(placeOf(made))).toEqual(before)
  const many = Array.from({ length: 3000 }, (_, n) => n.toString(16).padStart(40, '0') as Oid)
  const one = { additions: 1, deletions: 1 }
  expect(encodeLineCounts(new Map(many.map((oid) => [oid, one]))).length).toBe(12 + 2000 * 28)
  expect(encodeLineCounts(new Map([[many[1]!, { additions: 2 ** 32, deletions: 0 }]])).length).toBe(12)
})

test('commits are counted where the file cannot be written', async () => {
  const made = await world.repository()
  const commits = history(made, 25)
  rmSync(join(made.gitDir, 'objects/info'), { recursive: true })
  expect(await lineCounts(made.repo, commits)).toEqual(new Map(commits.map((oid) => [oid, countOfGit(made, oid)])))
})

test('what was counted before a failure is remembered', async () => {
  const made = await world.repository()
  const commits = history(made, 200)
  const tree = made.git('rev-parse', `${commits.at(-1)}^{tree}`)
  rmSync(join(made.gitDir, 'objects', tree.slice(0, 2), tree.slice(2)))
  await expect(lineCounts(made.repo, commits)).rejects.toThrow('unable to read tree')
  expect(readFileSync(placeOf(made)).readUInt32LE(4)).toBeGreaterThan(100)
})

test('a commit that cannot be read is not remembered', async () => {
  const made = await world.repository()
  const commits = history(made, 40)
  const commit = join(made.gitDir, 'objects', commits[0]!.slice(0, 2), commits[0]!.slice(2))
  const content = readFileSync(commit)
  rmSync(commit)
  await lineCounts(made.repo, commits).catch(() => {})
  writeFileSync(commit, content)
  expect(await lineCounts(made.repo, commits)).toEqual(new Map(commits.map((oid) => [oid, countOfGit(made, oid)])))
})
