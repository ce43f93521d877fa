import fc from 'fast-check'
import type { Oid } from '../format/oid.ts'
import type { Repository, RunCommand } from '../repository/repository.ts'
import { gitIn, type TestGit, type TestRepository } from '../testing.ts'

/** Paths of the files of a history. */
export const paths = ['a', 'b', 'd/a', 'd/e/f', 'd', 'ü', 'd/e'] as const
const contents = ['1', '2', 'long enough to be distinguished\nfrom others\nas a rename\n', null] as const

/** Commits with earlier commits as parents, roughly increasing dates and some changes. */
export const histories = fc.array(
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
export function store({ gitDir }: TestRepository, history: History): Oid[] {
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

/** How much of a history the commit-graph covers, in one file or two layers. */
const graphs = fc.record({ kind: fc.constantFrom('none', 'single', 'split'), share: fc.constantFrom(0.5, 0.8, 1) })

export function writeGraph(gitDir: string, commits: readonly Oid[], kind: string): void {
  const write = (oids: readonly Oid[], ...flags: string[]) =>
    gitIn(gitDir, ['commit-graph', 'write', '--stdin-commits', '--changed-paths', ...flags], oids.join('\n'))
  if (kind === 'single') write(commits)
  if (kind !== 'split') return
  write(commits.slice(0, commits.length >> 1), '--split=no-merge')
  write(commits, '--split=no-merge')
}

export const lines = (text: string) => text.split('\n').filter((line) => line !== '')

export type Real = { repo: Repository; commits: readonly Oid[]; tip: Oid; git: (...args: string[]) => string[] }

/** Checks many histories, and that no walk falls back to git. */
export const always = (world: TestGit, check: (real: Real) => Promise<void>, numRuns = 25) =>
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
