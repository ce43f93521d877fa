import { rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Oid } from '../format/oid.ts'
import { temporaryName } from '../repository/leftovers.ts'
import { memoize } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { settingsEnv } from '../runner/environment.ts'
import { inDag } from './dag.ts'
import { lineageOf } from './lineage.ts'

/** The origin of each line: runs of lines in file order; neighbouring runs have different commits. */
export type Blame = {
  readonly commits: readonly Oid[]
  /** Pairs: the index of a commit in `commits`, and the number of lines it wrote. */
  readonly runs: Uint32Array
}

/** A file in which every line has a different origin takes about 60 bytes per line. */
const maxOutputBytes = 32 * 1024 * 1024

/**
 * The commits that last changed each line of a file, following renames and copies within a commit as git does. One `blame`
 * process, which reads only the commits that changed the file if the commit-graph tells them; cached for all commits with the
 * same history of the file. The file must exist. `Failure('unavailable')` on timeout.
 */
export async function blameFile(repo: Repository, commit: Oid, path: string): Promise<Blame> {
  const start = await memoize(
    repo,
    `lineage ${commit}:${path}`,
    async (repo): Promise<Start> =>
      (await inDag(repo, [commit], (dag) => lineageOf(repo, dag, commit, path))) ?? { last: commit, grafts: undefined },
    ({ grafts }) => 100 + (grafts?.length ?? 0),
  )
  return memoize(
    repo,
    `blame ${start.last}:${path}`,
    (repo) => withGrafts(repo, start.grafts, (flags) => runBlame(repo, start.last, path, flags)),
    ({ commits, runs }) => 80 * commits.length + runs.byteLength,
  )
}

/** Without grafts, git walks the whole history of the commit. */
type Start = { readonly last: Oid; readonly grafts: string | undefined }

async function withGrafts<Result>(
  repo: Repository,
  grafts: string | undefined,
  work: (flags: readonly `-${string}`[]) => Promise<Result>,
): Promise<Result> {
  if (grafts === undefined) return work([])
  // Git reads them from a file. If the disk is full, it walks the whole history. What killed processes leave is removed like other leftovers.
  const file = temporaryName(join(dirname(repo.git.runner.socketPath), 'grafts'), 'new')
  try {
    const isWritten = await writeFile(file, grafts, { mode: 0o600, flag: 'wx' }).then(
      () => true,
      () => false,
    )
    return await work(isWritten ? [`-S${file}`] : [])
  } finally {
    await rm(file, { force: true })
  }
}

/**
 * An empty name: git otherwise reads the file `.mailmap` of the default branch, whose names the caller does not want, and reports an error if
 * that is a folder.
 */
const settings = [['mailmap.blob', '']] as const

async function runBlame(repo: Repository, commit: Oid, path: string, flags: readonly `-${string}`[]): Promise<Blame> {
  const { stdout } = await repo.run('blame', {
    // Without the content, which the caller has, and without quoting names.
    flags: ['--incremental', '--no-textconv', '--no-progress', '--ignore-revs-file=', ...flags],
    args: [commit],
    paths: [path],
    timeoutMs: repo.git.timeouts().quickMs,
    maxOutputBytes,
    // Git attributes the lines of a parent that it cannot read to the commit after it.
    strict: true,
    env: settingsEnv(settings),
  })
  return inFileOrder(stdout.toString('latin1'))
}

/** All other lines of the format begin with a word: `author`, `summary`, `filename`. */
const entry = /^([0-9a-f]{40}) \d+ (\d+) (\d+)$/gm

/** Git prints entries in the order in which it finds them; sorts them by line. */
function inFileOrder(output: string): Blame {
  const found = [...output.matchAll(entry)].map(([, oid, first, count]) => ({
    oid: oid as Oid,
    first: Number(first),
    count: Number(count),
  }))
  found.sort((one, other) => one.first - other.first)
  const indexes = new Map<Oid, number>()
  const runs: number[] = []
  for (const { oid, count } of found) {
    const index = indexes.get(oid) ?? indexes.size
    indexes.set(oid, index)
    if (runs.at(-2) === index) runs[runs.length - 1]! += count
    else runs.push(index, count)
  }
  return { commits: [...indexes.keys()], runs: Uint32Array.from(runs) }
}
