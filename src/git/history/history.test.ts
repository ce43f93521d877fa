import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Oid } from '../format/oid.ts'
import type { RefName } from '../format/ref-name.ts'
import { Git } from '../git.ts'
import { openGraph } from '../objects/open-graph.ts'
import type { Repository, RunCommand } from '../repository/repository.ts'
import { gitIn, TestGit, type TestRepository } from '../testing.ts'
import { aheadBehind, isAncestor, mergeBase, mergeBases, mergedInto, refsContaining } from './ancestry.ts'
import { blameFile } from './blame.ts'
import { countCommits, type HistoryFilters, listCommitIds } from './history.ts'
import { lastCommitsOfPaths } from './last-commits.ts'

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const paths = ['a', 'b', 'd/a', 'd/e/f', 'd', 'ü', 'd/e'] as const
const contents = ['1', '2', 'long enough to be distinguished\nfrom others\nas a rename\n', null] as const

/** Commits with earlier commits as parents, roughly increasing dates and some changes. */
const histories = fc.array(
  fc.record({
    parents: fc.uniqueArray(fc.nat(8), { maxLength: 4 }),
    seconds: fc.nat(4),
    changes: fc.array(fc.tuple(fc.constantFrom(...paths), fc.constantFrom(...contents), fc.boolean()), {
      maxLength: 3,
    }),
    moves: fc.option(fc.tuple(fc.constantFrom(...paths), fc.constantFrom(...paths))),
  }),
  { minLength: 1, maxLength: 25 },
)
type History = typeof histories extends fc.Arbitrary<infer Value> ? Value : never

/** The files of a commit, by path, each with its mode. */
type Files = Map<string, { mode: string; content: string }>

/** Adds a file, replacing what is above and below its path. */
function put(files: Files, path: string, file: { mode: string; content: string } | undefined): void {
  for (const other of [...files.keys()])
    if (other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) files.delete(other)
  if (file) files.set(path, file)
}

/** Stores a history with fast-import; returns the commits, oldest first. */
function store({ gitDir }: TestRepository, history: History): Oid[] {
  const trees: Files[] = []
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  let script = ''
  for (const [index, { parents, seconds, changes, moves }] of history.entries()) {
    const from = parents.map((back) => index - 1 - back).filter((parent) => parent >= 0)
    const files: Files = new Map(trees[from[0] ?? -1])
    for (const [path, content, executable] of changes)
      put(files, path, content === null ? undefined : { mode: executable ? '100755' : '100644', content })
    const moved = moves && files.get(moves[0])
    if (moves && moved) {
      put(files, moves[0], undefined)
      put(files, moves[1], moved)
    }
    trees.push(files)
    script += `commit refs/heads/c${index}\nmark :${index + 1}\n`
    script += `committer C <c@example.com> ${1_700_000_000 + index + seconds} +0000\n${data(String(index))}`
    script += from.map((parent, order) => `${order === 0 ? 'from' : 'merge'} :${parent + 1}\n`).join('')
    script += 'deleteall\n'
    for (const [path, { mode, content }] of files) script += `M ${mode} inline ${path}\n${data(content)}`
  }
  gitIn(gitDir, ['fast-import', '--quiet', '--force'], script)
  return lines(gitIn(gitDir, ['rev-parse', ...history.map((_, index) => `refs/heads/c${index}`)])) as Oid[]
}

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

/**
 * Input of fast-import: 300 commits on two branches that change lines of one file or another file, and are merged into each other,
 * where the file takes each line from either side.
 */
function branchedLines(seed: number): string {
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const data = (text: string) => `data ${text.length}\n${text}\n`
  const tips = [
    { branch: 'main', mark: 0, text: Array.from({ length: 30 }, (_, line) => `line ${line}`) },
    { branch: 'side', mark: 1, text: [] as string[] },
  ]
  let script = ''
  for (let mark = 1; mark <= 300; mark++) {
    if (mark === 2) tips[1]!.text = [...tips[0]!.text]
    const [own, other] = mark === 1 || random(2) === 0 ? [tips[0]!, tips[1]!] : [tips[1]!, tips[0]!]
    const merges = mark > 2 && random(6) === 0
    script += `commit refs/heads/${own.branch}\nmark :${mark}\n`
    script += `committer C <c@example.com> ${1_700_000_000 + 10 * mark - random(40)} +0000\n${data(String(mark))}`
    if (own.mark > 0) script += `from :${own.mark}\n`
    if (merges) script += `merge :${other.mark}\n`
    if (merges && random(3) > 0)
      own.text = own.text.map((line, at) => (random(2) === 0 ? line : (other.text[at] ?? line)))
    else if (random(4) === 0) own.text[random(30)] = `line ${random(5)} of ${mark}`
    else script += `M 100644 inline other\n${data(String(mark))}`
    script += `M ${random(20) === 0 ? '100755' : '100644'} inline lines\n${data(`${own.text.join('\n')}\n`)}`
    own.mark = mark
  }
  return script
}

/** How much of a history the commit-graph covers, in one file or two layers. */
const graphs = fc.record({ kind: fc.constantFrom('none', 'single', 'split'), share: fc.constantFrom(0.5, 0.8, 1) })

function writeGraph(gitDir: string, commits: readonly Oid[], kind: string): void {
  const write = (oids: readonly Oid[], ...flags: string[]) =>
    gitIn(gitDir, ['commit-graph', 'write', '--stdin-commits', '--changed-paths', ...flags], oids.join('\n'))
  if (kind === 'single') write(commits)
  if (kind !== 'split') return
  write(commits.slice(0, commits.length >> 1), '--split=no-merge')
  write(commits, '--split=no-merge')
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '')

type Real = { repo: Repository; commits: readonly Oid[]; tip: Oid; git: (...args: string[]) => string[] }

/** Checks many histories, and that no walk falls back to git. */
const always = (check: (real: Real) => Promise<void>, numRuns = 25) =>
  fc.assert(
    fc.asyncProperty(histories, graphs, async (history, { kind, share }) => {
      const real = await world.repository()
      const commits = store(real, history)
      writeGraph(real.gitDir, commits.slice(0, Math.ceil(commits.length * share)), kind)
      const { repo } = real
      const run = repo.run.bind(repo)
      repo.run = (subcommand, command) => {
        if (!isGits(subcommand, command, real.gitDir)) throw new Error(`git ${subcommand} was asked`)
        return run(subcommand, command)
      }
      repo.withSignal = () => repo
      await check({ repo, commits, tip: commits.at(-1)!, git: (...args) => lines(gitIn(real.gitDir, args)) })
    }),
    { numRuns },
  )

/** Only git knows the origin of a new file, the best of several merge bases, and which lines changed. */
const isGits = (subcommand: string, { flags = [], args = [] }: RunCommand = {}, gitDir: string) =>
  subcommand === 'merge-base'
    ? lines(gitIn(gitDir, ['merge-base', ...flags, '--all', ...args])).length > 1
    : (subcommand === 'log' && flags.includes('--max-count=1')) ||
      (subcommand === 'diff-tree' && flags.includes('--find-copies-harder')) ||
      subcommand === 'blame'

const all = { limit: 100 }

describe('history read in this process', () => {
  test('the history order is that of git, for any dates, merges and graph layers', () =>
    always(async ({ repo, commits, tip, git }) => {
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
    always(async ({ repo, tip, git }) => {
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
    always(async ({ repo, commits, git }) => {
      const asked = [...paths, 'd/e/f/g', 'none', '', 'a/', 'a//b', '../a']
      for (const tip of [commits.at(-1)!, commits[commits.length >> 1]!]) {
        const found = await lastCommitsOfPaths(repo, tip, asked)
        for (const path of asked) {
          const [last] = /^$|\/$|\/\/|\.\./.test(path) ? [] : git('rev-list', '--max-count=1', tip, '--', path)
          expect([path, found.get(path)]).toEqual([path, last])
        }
      }
    }, 12))

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
    always(async ({ repo, commits, git }) => {
      for (const path of ['a', 'd', 'd/e'])
        for (const tip of [...commits, ...commits.toReversed()]) {
          repo.git.cache.delete(`${repo.cacheKey}count undefined ${JSON.stringify({ from: [tip], path })}`)
          expect([path, await countCommits(repo, { from: [tip], path })]).toEqual([
            path,
            git('rev-list', tip, '--', path).length,
          ])
        }
    }, 12))

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
    always(async ({ repo, tip, git }) => {
      for (const path of paths)
        expect([path, ...(await listCommitIds(repo, { from: [tip], path, follow: true }, all))]).toEqual([
          path,
          ...git('log', '--follow', '--format=%H', tip, '--', path),
        ])
    }))

  test('following a file in a period gives the commits of git log --follow', () =>
    always(async ({ repo, tip, git }) => {
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

  test('each line of a file is by the commit that git blame names', () =>
    always(async ({ repo, tip, git }) => {
      for (const path of git('ls-tree', '-r', '-z', '--name-only', tip).join('\n').split('\0').filter(Boolean)) {
        const { commits, runs } = await blameFile(repo, tip, path)
        const found = Array.from({ length: runs.length / 2 }, (_, at) =>
          Array<Oid>(runs[2 * at + 1]!).fill(commits[runs[2 * at]!]!),
        )
        const expected = git('blame', '--porcelain', tip, '--', path).flatMap(
          (line) => /^([0-9a-f]{40}) \d+ \d+/.exec(line)?.[1] ?? [],
        )
        expect([path, ...found.flat()]).toEqual([path, ...expected])
      }
    }, 40))

  test('lines of a file that was changed on merged branches are by the commits that git blame names', async () => {
    for (let seed = 1; seed <= 8; seed++) {
      const { repo, gitDir } = await world.repository()
      gitIn(gitDir, ['fast-import', '--quiet'], branchedLines(seed))
      gitIn(gitDir, ['commit-graph', 'write', '--reachable', '--changed-paths'])
      for (const branch of ['main', 'side'] as const) {
        const tip = gitIn(gitDir, ['rev-parse', branch]) as Oid
        const { commits, runs } = await blameFile(repo, tip, 'lines')
        const found = lines(gitIn(gitDir, ['blame', '--porcelain', tip, '--', 'lines'])).flatMap(
          (line) => /^([0-9a-f]{40}) \d+ \d+/.exec(line)?.[1] ?? [],
        )
        let at = 0
        for (let run = 0; run < runs.length; run += 2)
          for (let line = 0; line < runs[run + 1]!; line++) expect(commits[runs[run]!]).toBe(found[at++])
        expect(at).toBe(found.length)
      }
    }
  })

  test('what blame writes for git is removed at a later start if its process was killed', async () => {
    const made = await world.repository()
    for (let at = 0; at < 5; at++) made.commit({ f: `${at}\n`, g: String(at) })
    const tip = made.commit({ g: 'last' })
    gitIn(made.gitDir, ['commit-graph', 'write', '--reachable', '--changed-paths'])
    const run = made.repo.run.bind(made.repo)
    const files: string[] = []
    made.repo.withSignal = () => made.repo
    made.repo.run = (name: string, options: any) => {
      for (const flag of options.flags) if (flag.startsWith('-S')) files.push(flag.slice(2))
      return run(name as any, options)
    }
    await blameFile(made.repo, tip, 'f')
    expect(files).toHaveLength(1)
    expect(existsSync(files[0]!)).toBe(false)
    writeFileSync(files[0]!, '')
    utimesSync(files[0]!, 0, 0)
    await new Git(world.runner).emptyDir()
    expect(existsSync(files[0]!)).toBe(false)
  })

  test('a file has the same blame at a later commit that did not change it, without another process', async () => {
    const made = await world.repository()
    made.commit({ f: 'one\n', g: '1' })
    const changed = made.commit({ f: 'one\ntwo\n' })
    const later = made.commit({ g: '2' })
    const found = await blameFile(made.repo, changed, 'f')
    made.repo.withSignal = () => made.repo
    made.repo.run = () => Promise.reject(new Error('a process'))
    expect(await blameFile(made.repo, later, 'f')).toEqual(found)
  })

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

  test('merged branches, excluded commits and merge bases are those of git', () => always(agreesOnAncestors, 12))

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
    expect(await listCommitIds(repo, { from: [tip], excluding: [other] }, all)).toEqual(
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
