import type { Oid } from '../format/oid.ts'
import { remember } from '../repository/remember.ts'
import type { Repository } from '../repository/repository.ts'

/** Who wrote which lines: runs of lines in the order of the file, no two neighbours of one commit. */
export type Blame = {
  readonly commits: readonly Oid[]
  /** Pairs: the index of a commit in `commits`, and how many lines it wrote. */
  readonly runs: Uint32Array
}

/** A file whose every line comes from somewhere else takes some 60 bytes a line. */
const maxOutputBytes = 32 * 1024 * 1024

/**
 * The commits that last changed each line of a file, through renames and copies within a commit as git sees them. One
 * `blame` process, remembered: it cannot change. The file must exist. `Failure('unavailable')` when it is not quick.
 */
export function blameFile(repo: Repository, commit: Oid, path: string): Promise<Blame> {
  return remember(
    repo,
    `blame ${commit}:${path}`,
    async (repo) => {
      const { stdout } = await repo.run('blame', {
        // Without the content, which is at hand, and without quoting names.
        flags: ['--incremental', '--no-textconv', '--no-progress', '--ignore-revs-file='],
        args: [commit],
        paths: [path],
        timeoutMs: repo.git.patience().quickMs,
        maxOutputBytes,
      })
      return inFileOrder(stdout.toString('latin1'))
    },
    ({ commits, runs }) => 80 * commits.length + runs.byteLength,
  )
}

/** Every other line of the format begins with a word: `author`, `summary`, `filename`. */
const entry = /^([0-9a-f]{40}|[0-9a-f]{64}) \d+ (\d+) (\d+)$/gm

/** Git tells what it finds when it finds it. */
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
