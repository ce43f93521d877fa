import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { gitIn, TestGit, type TestRepository } from '../testing.ts'
import { canMerge, mergeCommits } from './merge-commits.ts'
import { rebaseCommits } from './rebase.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

/** A number below `below`, derived from the words. */
const pick = (words: string, below: number): number =>
  createHash('sha256').update(words).digest().readUInt32BE() % below

const lines = (words: string, count = 30) =>
  Array.from({ length: count }, (_, line) => `${pick(`${words} ${line}`, 1_000_000)}\n`)

/** Two branches with a common base that change, rename and remove the same few files, and sometimes merge each other. */
function twoLines(made: TestRepository, seed: string): { ours: Oid; theirs: Oid } {
  const files = ['a', 'b', 'dir/c', 'dir/d'].map((name) => [name, lines(`${seed} ${name}`)] as const)
  const begin = made.commit(Object.fromEntries(files.map(([name, text]) => [name, text.join('')])))
  const contents = { ours: new Map(files), theirs: new Map(files) }
  const tips = { ours: begin, theirs: begin }
  for (let step = 0; step < 8; step++) {
    const side = (['ours', 'theirs'] as const)[pick(`${seed} side ${step}`, 2)]!
    const other = side === 'ours' ? 'theirs' : 'ours'
    const known = contents[side]
    const name = [...known.keys()][pick(`${seed} file ${step}`, known.size)]
    if (name === undefined) continue
    const text = known.get(name)!
    const kind = pick(`${seed} kind ${step}`, 6)
    // A crossing merge keeps the tree of this side: the histories meet, and there are several merge bases.
    const parents = kind === 0 ? [tips[side], tips[other]] : [tips[side]]
    if (kind === 1) {
      known.delete(name)
      known.set(`moved/${name}-${step}`, text)
      tips[side] = made.commit({ [name]: null, [`moved/${name}-${step}`]: text.join('') }, { branch: side, parents })
      continue
    }
    const changed = text.with(pick(`${seed} line ${step}`, text.length), `${side} ${step}\n`)
    known.set(name, changed)
    tips[side] = made.commit({ [name]: changed.join('') }, { branch: side, parents })
  }
  return tips
}

/** The result of real git in a working tree: the tree, or `conflict`. */
function inWorkTree(made: TestRepository, work: (folder: string) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'stithy-merge-'))
  try {
    gitIn(folder, ['clone', '-q', made.gitDir, '.'])
    work(folder)
    return gitIn(folder, ['rev-parse', 'HEAD^{tree}'])
  } catch {
    return 'conflict'
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const seeds = Array.from({ length: 24 }, (_, n) => `seed ${n}`)

describe('merges of two commits', () => {
  test('a merge has the result of git, for any changes on both sides', async () => {
    const outcomes = new Set<boolean>()
    for (const seed of seeds) {
      const made = await world.repository()
      const { ours, theirs } = twoLines(made, seed)
      const expected = inWorkTree(made, (folder) => {
        gitIn(folder, ['checkout', '-q', '--detach', ours])
        gitIn(folder, ['merge', '-q', '--no-edit', theirs])
      })
      expect([seed, await canMerge(made.repo, ours, theirs)]).toEqual([seed, expected !== 'conflict'])
      expect([seed, await mergeCommits(made.repo, ours, theirs)]).toEqual([seed, expected])
      outcomes.add(expected === 'conflict')
      expect(made.git('fsck', '--strict', '--no-dangling')).toBe('')
    }
    expect(outcomes.size).toBe(2)
  })

  test('merging an ancestor gives the tree of the descendant', async () => {
    const made = await world.repository()
    const first = made.commit({ a: '1' })
    const second = made.commit({ a: '2' })
    const tree = made.git('rev-parse', `${second}^{tree}`)
    expect(await mergeCommits(made.repo, first, second)).toBe(tree)
    expect(await mergeCommits(made.repo, second, first)).toBe(tree)
    expect(await canMerge(made.repo, second, first)).toBe(true)
  })

  test('merging unrelated histories is a conflict', async () => {
    const made = await world.repository()
    const [one, other] = [made.commit({ a: '1' }), made.commit({ b: '1' }, { branch: 'other' })]
    expect(await mergeCommits(made.repo, one, other)).toBe('conflict')
    expect(await canMerge(made.repo, one, other)).toBe(false)
  })

  test('canMerge writes no objects', async () => {
    const made = await world.repository()
    const begin = made.commit({ a: 'a\n', b: 'b\n' })
    const ours = made.commit({ a: 'x\n' })
    const theirs = made.commit({ b: 'y\n' }, { branch: 'other', parents: [begin] })
    const before = readdirSync(made.repo.objectDir, { recursive: true }).length
    expect(await canMerge(made.repo, ours, theirs)).toBe(true)
    expect(readdirSync(made.repo.objectDir, { recursive: true })).toHaveLength(before)
  })
})

const committer = { name: 'Eve', email: 'eve@example.com', at: new Date(1_800_000_000_000) }

describe('rebases', () => {
  test('a rebase has the result of git', async () => {
    const outcomes = new Set<boolean>()
    for (const seed of seeds) {
      const made = await world.repository()
      const { ours, theirs } = twoLines(made, seed)
      const expected = inWorkTree(made, (folder) => {
        gitIn(folder, ['checkout', '-q', '--detach', theirs])
        gitIn(folder, ['rebase', '-q', ours])
      })
      const head = await rebaseCommits(made.repo, { head: theirs, onto: ours, committer })
      const tree = head === 'conflict' ? head : made.git('rev-parse', `${head}^{tree}`)
      expect([seed, tree]).toEqual([seed, expected])
      outcomes.add(expected === 'conflict')
    }
    expect(outcomes.size).toBe(2)
  })

  test('a rebase preserves authors and messages and sets the committer', async () => {
    const made = await world.repository()
    const begin = made.commit({ a: '1' })
    const onto = made.commit({ b: '1' })
    made.commit({ c: '1' }, { branch: 'topic', parents: [begin], message: 'One\n\nWhy.\n', author: 'Bob <bob@x.y>' })
    const topic = made.commit({ d: '1' }, { branch: 'topic', message: 'Two' })
    const head = await rebaseCommits(made.repo, { head: topic, onto, committer })
    expect(made.git('log', '--format=%an %ae %ad|%cn %ct|%s %b', '--date=raw', `${onto}..${head}`).split('\n')).toEqual(
      [
        'Ann ann@example.com 1700000003 +0100|Eve 1800000000|Two ',
        'Bob bob@x.y 1700000002 +0100|Eve 1800000000|One Why.',
        '',
      ],
    )
    expect(made.git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  test('a rebase skips commits that the target has, and leaves up-to-date commits unchanged', async () => {
    const made = await world.repository()
    const begin = made.commit({ a: '1' })
    const topic = made.commit({ b: '1' }, { branch: 'topic', parents: [begin] })
    const onto = made.commit({ b: '1' }, { message: 'The same' })
    expect(await rebaseCommits(made.repo, { head: topic, onto, committer })).toBe(onto)
    expect(await rebaseCommits(made.repo, { head: topic, onto: begin, committer })).toBe(topic)
    expect(await rebaseCommits(made.repo, { head: begin, onto: topic, committer })).toBe(topic)
  })
})
