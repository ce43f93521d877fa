import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import type { RefName } from '../format/ref-name.ts'
import { aheadBehind, isAncestor, mergeBase, mergeBases, mergedInto, refsContaining } from '../history/ancestry.ts'
import { blameFile } from '../history/blame.ts'
import { countCommits, listCommitIds } from '../history/history.ts'
import { lastCommitsOfPaths } from '../history/last-commits.ts'
import { readCommit, treeBefore } from '../objects/commits.ts'
import { Repository } from '../repository/repository.ts'
import { damageIn } from '../runner/damage.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { canMerge, mergeCommits } from './merge-commits.ts'
import { mergeTrees } from './merge-trees.ts'
import { rebaseCommits } from './rebase.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

/** What the work returns, or `damaged`. Any other failure fails the test. */
const outcome = async <T>(work: Promise<T>): Promise<T | 'damaged'> =>
  work.catch((error: unknown) => {
    if (!damageIn(error)) throw error
    return 'damaged' as const
  })

/** Runs `work` while an object is not there, with a repository of which nothing is cached. */
async function without<T>(made: TestRepository, oid: string, work: (repo: Repository) => Promise<T>): Promise<T> {
  const file = join(made.repo.objectDir, oid.slice(0, 2), oid.slice(2))
  const away = join(made.gitDir, 'away')
  renameSync(file, away)
  try {
    return await work(new Repository(world.git, made.gitDir))
  } finally {
    renameSync(away, file)
  }
}

const committer = { name: 'Eve', email: 'eve@example.com', at: new Date(0) }

const text = (name: string) => Array.from({ length: 20 }, (_, line) => `${name} ${line}\n`).join('')

/** Two branches that changed, moved, removed and added files since they merged each other. */
function crossing(made: TestRepository): { ours: Oid; theirs: Oid } {
  const names = ['x', 'y', 'a/x', 'a/y', 'a/b/x', 'c/x', 'c/y']
  const begin = made.commit(Object.fromEntries(names.map((name) => [name, text(name)])))
  const one = made.commit({ x: `${text('x')}one` }, { branch: 'ours', parents: [begin] })
  const other = made.commit({ 'a/x': `${text('a/x')}other` }, { branch: 'theirs', parents: [begin] })
  made.commit({ 'a/x': `${text('a/x')}other` }, { branch: 'ours', parents: [one, other] })
  made.commit({ x: `${text('x')}one` }, { branch: 'theirs', parents: [other, one] })
  const moved = { 'c/x': null, 'c/y': null, 'd/x': `ours\n${text('c/x')}`, 'd/y': text('c/y') }
  const ours = made.commit({ 'a/y': `ours\n${text('a/y')}`, 'new/o': 'o', ...moved }, { branch: 'ours' })
  const theirs = made.commit({ 'a/b/x': null, 'c/x': `${text('c/x')}theirs`, 'e/new': 'n' }, { branch: 'theirs' })
  return { ours, theirs }
}

const objectsOf = (made: TestRepository, type: string, commits: readonly Oid[]): string[] =>
  made
    .git('rev-list', '--objects', '--no-object-names', ...commits)
    .split('\n')
    .filter((oid) => made.git('cat-file', '-t', oid) === type)

describe('in a repository that has lost an object', () => {
  test.for(['tree', 'blob'])(
    'a merge, and a merge of trees, has the result of an intact one or fails, whatever %s is lost',
    async (type) => {
      const made = await world.repository()
      const { ours, theirs } = crossing(made)
      const trees = {
        base: made.git('rev-parse', 'main^{tree}') as Oid,
        ours: made.git('rev-parse', `${ours}^{tree}`) as Oid,
        theirs: made.git('rev-parse', `${theirs}^{tree}`) as Oid,
      }
      const intact = await mergeCommits(made.repo, ours, theirs)
      const intactOfTrees = await mergeTrees(made.repo, trees)
      expect(intact).toMatch(/^[0-9a-f]{40}$/)
      expect(intactOfTrees).toMatch(/^[0-9a-f]{40}$/)
      const seen = new Set<string>()
      for (const oid of objectsOf(made, type, [ours, theirs])) {
        await without(made, oid, async (repo) => {
          const merged = await outcome(mergeCommits(repo, ours, theirs))
          expect([intact, 'damaged'], oid).toContain(merged)
          expect([intactOfTrees, 'damaged'], oid).toContain(await outcome(mergeTrees(repo, trees)))
          expect([true, 'damaged'], oid).toContain(await outcome(canMerge(repo, ours, theirs)))
          seen.add(merged)
        })
      }
      expect(seen).toEqual(new Set([intact, 'damaged']))
    },
  )

  test.for(['main', 'ours', 'theirs'])('a merge fails without the tree of %s', async (branch) => {
    const made = await world.repository()
    const { ours, theirs } = crossing(made)
    await without(made, made.git('rev-parse', `${branch}^{tree}`), async (repo) => {
      expect(await outcome(mergeCommits(repo, ours, theirs))).toBe('damaged')
      expect(await outcome(canMerge(repo, ours, theirs))).toBe('damaged')
    })
  })

  test.for([false, true])(
    'a merge or rebase without the commit of a side is no conflict, with a commit-graph: %s',
    async (hasGraph) => {
      const made = await world.repository()
      const { ours, theirs } = crossing(made)
      if (hasGraph) made.git('commit-graph', 'write', '--reachable')
      for (const lost of [ours, theirs])
        await without(made, lost, async (repo) => {
          expect(await outcome(mergeCommits(repo, ours, theirs))).toBe('damaged')
          expect(await outcome(canMerge(repo, ours, theirs))).toBe('damaged')
          expect(await outcome(rebaseCommits(repo, { head: theirs, onto: ours, committer }))).toBe('damaged')
        })
      const begin = made.git('rev-parse', 'main') as Oid
      // One side contains the other.
      await without(made, ours, async (repo) => {
        expect(await outcome(mergeCommits(repo, ours, begin))).toBe('damaged')
      })
    },
  )

  test('commits whose common history is lost are not taken for unrelated ones', async () => {
    const made = await world.repository()
    const begin = made.commit({ a: '1' })
    const lost = made.commit({ a: '2' })
    const ours = made.commit({ a: '3' })
    const theirs = made.commit({ b: '1' }, { branch: 'theirs', parents: [lost] })
    await without(made, lost, async (repo) => {
      expect(await outcome(mergeBases(repo, ours, theirs))).toBe('damaged')
      expect(await outcome(mergeBase(repo, ours, theirs))).toBe('damaged')
      expect(await outcome(mergeBase(repo, ours, theirs, begin))).toBe('damaged')
      expect(await outcome(isAncestor(repo, begin, ours))).toBe('damaged')
      expect(await outcome(mergeCommits(repo, ours, theirs))).toBe('damaged')
      expect(await outcome(canMerge(repo, ours, theirs))).toBe('damaged')
    })
  })

  test('a rebase does not repeat the common commits if the history of the target is lost', async () => {
    const made = await world.repository()
    made.commit({ 'removed.txt': '1' })
    const begin = made.commit({ 'removed.txt': null, a: '1' })
    const lost = made.commit({ b: '1' })
    const onto = made.commit({ b: '2' })
    const head = made.commit({ c: '1' }, { branch: 'topic', parents: [begin] })
    await without(made, lost, async (repo) => {
      expect(await outcome(rebaseCommits(repo, { head, onto, committer }))).toBe('damaged')
    })
  })

  test('a range has no commits of the excluded side whose history is lost', async () => {
    const made = await world.repository()
    made.commit({ a: '1' })
    const begin = made.commit({ a: '2' })
    const lost = made.commit({ b: '1' })
    const known = made.commit({ b: '2' })
    const head = made.commit({ a: '3' }, { branch: 'topic', parents: [begin] })
    const range = { from: [head], excluding: [known] }
    const page = { limit: 10 }
    expect(await listCommitIds(made.repo, range, page)).toEqual([head])
    await without(made, lost, async (repo) => {
      for (const filters of [range, { ...range, path: 'a' }, { ...range, path: 'a', follow: true }]) {
        expect(await outcome(listCommitIds(repo, filters, page)), JSON.stringify(filters)).toBe('damaged')
        expect(await outcome(countCommits(repo, filters)), JSON.stringify(filters)).toBe('damaged')
      }
      expect(await outcome(listCommitIds(repo, range, { ...page, order: 'topo' }))).toBe('damaged')
      expect(await outcome(aheadBehind(repo, head, known))).toBe('damaged')
      const branches = [{ name: 'refs/heads/topic' as RefName, oid: begin }]
      expect(await outcome(mergedInto(repo, known, branches))).toBe('damaged')
      expect(await outcome(refsContaining(repo, begin))).toBe('damaged')
    })
  })

  test('a range of several commits leaves out a history below a common commit that is lost', async () => {
    const made = await world.repository()
    const begin = made.commit({ a: '1' })
    const lost = made.commit({ b: '1' })
    const known = made.commit({ b: '2' })
    const side = made.commit({ a: '2' }, { branch: 'topic', parents: [begin] })
    const head = made.commit({ a: '2', b: '2' }, { branch: 'topic', parents: [known, side] })
    expect(await listCommitIds(made.repo, { from: [head], excluding: [known] }, { limit: 10 })).toEqual([head, side])
    await without(made, lost, async (repo) => {
      expect(await outcome(listCommitIds(repo, { from: [head], excluding: [known] }, { limit: 10 }))).toBe('damaged')
    })
  })

  test('no lines are attributed to a commit because its parent is lost', async () => {
    const made = await world.repository()
    const parent = made.commit({ a: '1\n' })
    const tip = made.commit({ b: '2\n' })
    await without(made, parent, async (repo) => {
      expect(await outcome(blameFile(repo, tip, 'a'))).toBe('damaged')
    })
  })

  test('the last commits of several paths are unknown without a tree or commit of the history', async () => {
    const made = await world.repository()
    const first = made.commit({ 'a/x': '1', 'b/y': '1' })
    const tree = made.git('rev-parse', `${first}^{tree}`)
    const tip = made.commit({ 'a/x': '2' })
    const paths = ['a/x', 'b/y']
    for (const hasGraph of [false, true]) {
      if (hasGraph) made.git('commit-graph', 'write', '--reachable')
      for (const lost of [tree, first, made.git('rev-parse', `${first}:b`)])
        await without(made, lost, async (repo) => {
          const found = await outcome(lastCommitsOfPaths(repo, tip, paths))
          // What is lost need not be read to answer.
          expect([
            'damaged',
            new Map([
              ['a/x', tip],
              ['b/y', first],
            ]),
          ]).toContainEqual(found)
        })
    }
    await without(made, tree, async (repo) => {
      expect(await outcome(lastCommitsOfPaths(repo, tip, paths))).toBe('damaged')
    })
  })

  test('the tree before a commit is not empty if its parent is lost', async () => {
    const made = await world.repository()
    const parent = made.commit({ a: '1' })
    const tip = made.commit({ a: '2' })
    await without(made, parent, async (repo) => {
      expect(await outcome(treeBefore(repo, (await readCommit(repo, tip))!))).toBe('damaged')
    })
  })
})
