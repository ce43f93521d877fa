import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Oid } from '../format/oid.ts'
import { gitIn, TestGit } from '../testing.ts'
import { countCommits, type HistoryFilters, listCommitIds } from './history.ts'
import { lastCommitsOfPaths } from './last-commits.ts'
import { always, lines, paths } from './testing.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

/**
 * Input of fast-import: one file under three successive names, with others beside it. Every fifth run of ten commits is on a
 * side branch until it is merged. Dates sometimes go back.
 */
function longHistory(length: number): string {
  const data = (text: string) => `data ${text.length}\n${text}\n`
  const nameAt = (index: number) => (index < 400 ? 'old' : index < 1800 ? 'd/middle' : 'd/new')
  const body = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join('')
  let script = ''
  for (let index = 0; index < length; index++) {
    const merges = index > 0 && index % 50 === 0
    const name = nameAt(index)
    script += `commit refs/heads/${index % 50 >= 40 ? 'side' : 'main'}\nmark :${index + 1}\n`
    script += `committer C <c@example.com> ${1_700_000_000 + 10 * index - (index % 7) * 15} +0000\n${data('x')}`
    if (index > 0) script += `from :${merges ? index - 10 : index}\n`
    if (merges) script += `merge :${index}\n`
    if (index > 0 && name !== nameAt(index - 1)) script += `R ${nameAt(index - 1)} ${name}\n`
    if (index % 9 === 0) script += `M 100644 inline ${name}\n${data(`${body}${index}`)}`
    else script += `M 100644 inline other/${index % 30}\n${data(String(index))}`
  }
  return script
}

const all = { limit: 100 }

describe('history read in this process', () => {
  test('the history order is that of git, for any dates, merges and graph layers', () =>
    always(world, async ({ repo, commits, tip, git }) => {
      const some = [tip, commits[commits.length >> 1]!, commits[0]!]
      expect(await listCommitIds(repo, { from: some }, all)).toEqual(git('rev-list', ...some))
      expect(await countCommits(repo, { from: some })).toBe(git('rev-list', ...some).length)
      expect(await listCommitIds(repo, { from: [tip] }, { limit: 3, skip: 2 })).toEqual(
        git('rev-list', '--skip=2', '--max-count=3', tip),
      )
      expect(await listCommitIds(repo, { from: [tip], firstParent: true }, all)).toEqual(
        git('rev-list', '--first-parent', tip),
      )
      const period = { since: new Date(1_700_000_004_000), until: new Date(1_700_000_020_000) }
      expect(await listCommitIds(repo, { from: [tip], ...period }, all)).toEqual(
        git('rev-list', '--max-age=1700000004', '--min-age=1700000020', tip),
      )
    }))

  test('the history of a path is simplified as in git', () =>
    always(world, async ({ repo, tip, git }) => {
      const agree = async (filters: Partial<HistoryFilters>, path: string, ...flags: string[]) =>
        expect([path, ...(await listCommitIds(repo, { from: [tip], path, ...filters }, all))]).toEqual([
          path,
          ...git('rev-list', ...flags, tip, '--', path),
        ])
      for (const path of [...paths, 'd/e/f/g']) {
        await agree({}, path)
        expect(await countCommits(repo, { from: [tip], path })).toBe(git('rev-list', tip, '--', path).length)
        await agree({ firstParent: true }, path, '--first-parent')
        await agree({ since: new Date(1_700_000_006_000) }, path, '--max-age=1700000006')
      }
    }))

  test('the last commits of many paths are those of git for each', () =>
    always(
      world,
      async ({ repo, commits, git }) => {
        const asked = [...paths, 'd/e/f/g', 'none', '', 'a/', 'a//b', '../a']
        for (const tip of [commits.at(-1)!, commits[commits.length >> 1]!]) {
          const found = await lastCommitsOfPaths(repo, tip, asked)
          for (const path of asked) {
            const [last] = /^$|\/$|\/\/|\.\./.test(path) ? [] : git('rev-list', '--max-count=1', tip, '--', path)
            expect([path, found.get(path)]).toEqual([path, last])
          }
        }
      },
      12,
    ))

  test('the last commits of 400 paths take no process, and read a tree at most once for each commit, however long the history', async () => {
    const { repo, gitDir } = await world.repository()
    gitIn(gitDir, ['fast-import', '--quiet'], longHistory(2500))
    const tip = gitIn(gitDir, ['rev-parse', 'main']) as Oid
    const some = ['old', 'd/middle', 'd/new', 'other/3', 'other/7', 'd', 'none']
    const ofGit = some.flatMap((path) => lines(gitIn(gitDir, ['rev-list', '--max-count=1', tip, '--', path])))
    const asked = [...some, ...Array.from({ length: 400 }, (_, index) => `d/e${index % 20}/${index}`)]
    const run = repo.run.bind(repo)
    let processes = 0
    repo.run = (...command) => {
      processes++
      return run(...command)
    }
    repo.withSignal = () => repo
    for (const graph of ['none', 'whole']) {
      if (graph === 'whole') gitIn(gitDir, ['commit-graph', 'write', '--reachable', '--changed-paths'])
      const reads = vi.spyOn(repo, 'objects')
      const found = await lastCommitsOfPaths(repo, tip, asked)
      expect([...found.values()].sort()).toEqual(ofGit.toSorted())
      expect(processes).toBe(0)
      // Commits, and the trees of those that may have changed one of the paths: the root and `d`.
      expect(reads.mock.calls.length).toBeLessThan(graph === 'none' ? 3.2 * 2500 : 2500)
      reads.mockRestore()
    }
  })

  test('the commit count of a path is updated from tip to tip as git counts', () =>
    always(
      world,
      async ({ repo, commits, git }) => {
        for (const path of ['a', 'd', 'd/e'])
          for (const tip of [...commits, ...commits.toReversed()]) {
            repo.git.cache.delete(`${repo.cacheKey}count undefined ${JSON.stringify({ from: [tip], path })}`)
            expect([path, await countCommits(repo, { from: [tip], path })]).toEqual([
              path,
              git('rev-list', tip, '--', path).length,
            ])
          }
      },
      12,
    ))

  test('the commits of a large directory are counted by git once, then incrementally', async () => {
    const made = await world.repository()
    const { repo, gitDir } = made
    gitIn(gitDir, ['fast-import', '--quiet'], longHistory(2500))
    gitIn(gitDir, ['commit-graph', 'write', '--reachable', '--changed-paths'])
    const first = gitIn(gitDir, ['rev-parse', 'main']) as Oid
    const counted = await countCommits(repo, { from: [first], path: 'd' })
    expect(counted).toBe(lines(gitIn(gitDir, ['rev-list', first, '--', 'd'])).length)
    made.commit({ 'd/of a push': '1' })
    made.commit({ elsewhere: '1' })
    const tip = made.commit({ 'd/of a push': '2' })
    repo.withSignal = () => repo
    repo.run = async () => {
      throw new Error('git was asked')
    }
    expect(await countCommits(repo, { from: [tip], path: 'd' })).toBe(counted + 2)
  })

  test('following a file gives the commits of git log --follow', () =>
    always(world, async ({ repo, tip, git }) => {
      for (const path of paths)
        expect([path, ...(await listCommitIds(repo, { from: [tip], path, follow: true }, all))]).toEqual([
          path,
          ...git('log', '--follow', '--format=%H', tip, '--', path),
        ])
    }))

  test('following a file in a period gives the commits of git log --follow', () =>
    always(world, async ({ repo, tip, git }) => {
      const [since, until] = [new Date(1_700_000_006_000), new Date(1_700_000_030_000)]
      const flags = ['--max-age=1700000006', '--min-age=1700000030']
      for (const path of paths) {
        const followed = (period: Partial<HistoryFilters>) =>
          listCommitIds(repo, { from: [tip], path, follow: true, ...period }, all)
        const ofGit = (...limits: string[]) => git('log', '--follow', '--format=%H', ...limits, tip, '--', path)
        expect([path, ...(await followed({ since }))]).toEqual([path, ...ofGit(flags[0]!)])
        expect([path, ...(await followed({ until }))]).toEqual([path, ...ofGit(flags[1]!)])
        expect([path, ...(await followed({ since, until }))]).toEqual([path, ...ofGit(...flags)])
      }
    }))

  test('the history of a path is that of git when longer than one read', async () => {
    const { repo, gitDir } = await world.repository()
    gitIn(gitDir, ['fast-import', '--quiet'], longHistory(2500))
    gitIn(gitDir, ['commit-graph', 'write', '--reachable', '--changed-paths'])
    const tip = gitIn(gitDir, ['rev-parse', 'main']) as Oid
    const ofGit = (...args: string[]) => lines(gitIn(gitDir, args))
    for (const path of ['d/new', 'd/middle', 'other/3'])
      expect(await listCommitIds(repo, { from: [tip], path, follow: true }, { limit: 2000 })).toEqual(
        ofGit('log', '--follow', '--format=%H', tip, '--', path),
      )
    for (const path of ['d/middle', 'd', 'other/3', 'other']) {
      expect(await listCommitIds(repo, { from: [tip], path }, { limit: 150 })).toEqual(
        ofGit('rev-list', '--max-count=150', tip, '--', path),
      )
      expect(await countCommits(repo, { from: [tip], path })).toBe(ofGit('rev-list', tip, '--', path).length)
    }
  })

  test('following a file that was deleted many times falls back to git', async () => {
    const { repo, gitDir } = await world.repository()
    const commit = (index: number) =>
      `commit refs/heads/main\nmark :${index + 1}\ncommitter C <c@example.com> ${1_700_000_000 + index} +0000\ndata 1\nx\n` +
      (index % 2 === 0 ? `M 100644 inline a\ndata 4\n${1000 + index}\n` : 'D a\n')
    gitIn(gitDir, ['fast-import', '--quiet'], Array.from({ length: 400 }, (_, index) => commit(index)).join(''))
    gitIn(gitDir, ['commit-graph', 'write', '--reachable', '--changed-paths'])
    const tip = gitIn(gitDir, ['rev-parse', 'main']) as Oid
    let processes = 0
    const run = repo.run.bind(repo)
    repo.run = (...command) => {
      processes++
      return run(...command)
    }
    expect(await listCommitIds(repo, { from: [tip], path: 'a', follow: true }, { limit: 1000 })).toEqual(
      lines(gitIn(gitDir, ['log', '--follow', '--format=%H', tip, '--', 'a'])),
    )
    expect(processes).toBeLessThan(30)
  })
})

test('the history of many tips that the commit-graph lacks, whose messages have megabytes together, is that of git', async () => {
  const made = await world.repository()
  const first = made.commit({ a: '0' })
  made.git('commit-graph', 'write', '--reachable')
  const message = 'm'.repeat(600_000)
  const tips = Array.from({ length: 20 }, (_, index) =>
    made.commit({ a: `${index}` }, { branch: `b${index}`, parents: [first], message }),
  )
  const found = await listCommitIds(made.repo, { from: tips }, { limit: 100 })
  expect(found.toSorted()).toEqual([first, ...tips].toSorted())
})

test.for([
  ['root', ''],
  ['directory above', 'd'],
  ['directory of the path', 'd/e'],
])('the history of a path fails if a commit has lost its tree: the %s', async ([, path]) => {
  const made = await world.repository()
  made.commit({ 'd/e/a': '1' })
  const middle = made.commit({ 'd/e/a': '2' })
  const tip = made.commit({ 'd/e/a': '3' })
  const lost = made.git('rev-parse', `${middle}:${path}`)
  rmSync(`${made.gitDir}/objects/${lost.slice(0, 2)}/${lost.slice(2)}`)
  await expect(listCommitIds(made.repo, { from: [tip], path: 'd/e/a' }, { limit: 10 })).rejects.toThrow()
})
