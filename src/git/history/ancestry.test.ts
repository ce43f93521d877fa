import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RefName } from '../format/ref-name.ts'
import { openGraph } from '../objects/open-graph.ts'
import { gitIn, TestGit } from '../testing.ts'
import { aheadBehind, isAncestor, mergeBase, mergeBases, mergedInto, refsContaining } from './ancestry.ts'
import { listCommitIds } from './history.ts'
import { always, histories, lines, type Real, store, writeGraph } from './testing.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

test('merged branches, excluded commits and merge bases are those of git', () => always(world, agreesOnAncestors, 12))

test('merged branches, excluded commits and merge bases are the same if only git can read the history', async () => {
  await using small = await TestGit.start({ graphBytes: 1 })
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const made = await small.repository()
      const { repo, gitDir } = made
      const commits = store(made, history)
      writeGraph(gitDir, commits, 'single')
      expect(await openGraph(repo)).toBe('git')
      await agreesOnAncestors({
        repo,
        commits,
        tip: commits.at(-1)!,
        git: (...args) => lines(gitIn(gitDir, args)),
      })
    }),
    { numRuns: 6 },
  )
})

test('merged branches are found among more than fit into a command line', async () => {
  await using small = await TestGit.start({ graphBytes: 1 })
  const { repo, gitDir, ...made } = await filled(small)
  const tips = Array.from({ length: 16_000 }, (_, n) => ({
    oid: n % 2 === 0 ? made.first : made.other,
    name: `refs/heads/${'long'.repeat(50)}${n}` as RefName,
  }))
  const sorted = tips.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const lines = sorted.map(({ oid, name }) => `${oid} ${name}\n`)
  writeFileSync(`${gitDir}/packed-refs`, `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`)
  expect(await openGraph(repo)).toBe('git')
  expect((await mergedInto(repo, made.second, tips)).size).toBe(8000)
})

/** Two commits of one history, and one beside it, with a commit-graph. */
async function filled(git: TestGit) {
  const made = await git.repository()
  const first = made.commit({ a: '1' })
  const second = made.commit({ a: '2' })
  const other = made.commit({ a: '3' }, { branch: 'other', parents: [first] })
  writeGraph(made.gitDir, [first, second, other], 'single')
  return { repo: made.repo, gitDir: made.gitDir, first, second, other }
}

/** Checks merged branches, excluded commits and merge bases. */
async function agreesOnAncestors({ repo, commits, tip, git }: Real): Promise<void> {
  const heads = commits.map((oid, index) => ({ oid, name: `refs/heads/c${index}` as RefName }))
  expect([...(await mergedInto(repo, tip, heads))].toSorted()).toEqual(
    git('for-each-ref', '--format=%(refname)', `--merged=${tip}`, 'refs/heads/c*')
      .filter((name) => name !== heads.at(-1)!.name)
      .toSorted(),
  )
  git('tag', '-a', 'middle', '-m', 'x', commits[commits.length >> 1]!)
  for (const other of commits.filter((_, index) => index % 3 === 0)) {
    expect((await refsContaining(repo, other)).map(({ name }) => name)).toEqual(
      git('for-each-ref', '--format=%(refname)', `--contains=${other}`),
    )
    expect(await listCommitIds(repo, { from: [tip], excluding: [other] }, { limit: 100 })).toEqual(
      git('rev-list', tip, `^${other}`),
    )
    const middle = commits[commits.length >> 1]!
    const [left, right] = git('rev-list', '--left-right', '--count', `${middle}...${other}`)[0]!.split('\t')
    expect(await aheadBehind(repo, middle, other)).toEqual({ left: Number(left), right: Number(right) })
    expect(await isAncestor(repo, other, middle)).toBe(git('rev-list', other, `^${middle}`).length === 0)
    expect(await mergeBases(repo, tip, other, middle)).toEqual(gitBases(git, '--all', tip, other, middle))
    expect([(await mergeBase(repo, middle, other)) ?? []].flat()).toEqual(gitBases(git, middle, other))
  }
}

/** Git also reports by its exit code that there is none. */
function gitBases(git: Real['git'], ...args: string[]): string[] {
  try {
    return git('merge-base', ...args)
  } catch {
    return []
  }
}
