import type { Oid } from '../format/oid.ts'
import { remember } from '../repository/remember.ts'
import type { Repository } from '../repository/repository.ts'

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
 * process; the result is immutable and cached. The file must exist. `Failure('unavailable')` on timeout.
 */
export function blameFile(repo: Repository, commit: Oid, path: string): Promise<Blame> {
  return remember(
    repo,
    `blame ${commit}:${path}`,
    async (repo) => {
      const { stdout } = await repo.run('blame', {
        // Without the content, which the caller has, and without quoting names.
        flags: ['--incremental', '--no-textconv', '--no-progress', '--ignore-revs-file='],
        args: [commit],
        paths: [path],
        timeoutMs: repo.git.timeouts().quickMs,
        maxOutputBytes,
      })
      return inFileOrder(stdout.toString('latin1'))
    },
    ({ commits, runs }) => 80 * commits.length + runs.byteLength,
  )
}

/** All other lines of the format begin with a word: `author`, `summary`, `filename`. */
const entry = /^([0-9a-f]{40}|[0-9a-f]{64}) \d+ (\d+) (\d+)$/gm

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
