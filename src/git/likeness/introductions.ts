import type { RecordFormat } from '../format/records.ts'
import type { Command, Repository } from '../repository/repository.ts'
import type { Subcommand } from '../runner/command.ts'
import { GitTimeout } from '../runner/git-error.ts'
import type { Introduction } from './sketch-file.ts'

/**
 * Limits of a history: of larger ones, generations take too much memory, and one can be made in which commits of a few objects change
 * millions of files. Bytes are those that git writes about all commits, a few hundred for each.
 */
const usualLimits = { commits: 300_000, bytes: 1024 ** 3, ms: 5 * 60_000 }

class BeyondLimits extends Error {}

/** Binary ids as text; as parts of larger texts, ids would keep those in memory. */
export const blobKey = (id: Buffer): string => id.toString('latin1')

/** Generations of all commits that refs reach, by id: one more than the largest of the parents. */
export type Generations = ReadonlyMap<string, number>

/** `undefined` beyond the limits. One process. */
export const commitGenerations = (repo: Repository, limits = usualLimits): Promise<Generations | undefined> =>
  withinLimits(async () => {
    const generations = new Map<string, number>()
    const flags = ['--all', '--parents', '--topo-order', '--reverse'] as const
    for await (const line of partsOf(repo, 'rev-list', flags, '\n', limits)) {
      const [commit, ...parents] = line.split(' ')
      if (generations.size === limits.commits) throw new BeyondLimits()
      generations.set(commit!, 1 + parents.reduce((most, parent) => Math.max(most, generations.get(parent) ?? 0), 0))
    }
    return generations
  })

const change = /^\n?:/
const changesOfEach = ['--raw', '-z', '--no-abbrev', '--root', '--no-renames', '--diff-merges=first-parent'] as const

/**
 * Where the blobs first came into the history of these commits, by `blobKey`; `undefined` beyond the limits. One process, which compares
 * each commit with its first parent: what a merge has from another parent came into the history there.
 */
export const introductionsOf = (
  repo: Repository,
  generations: Generations,
  limits = usualLimits,
): Promise<ReadonlyMap<string, Introduction> | undefined> =>
  withinLimits(async () => {
    const found = new Map<string, Introduction>()
    const flags = ['--all', ...changesOfEach, '--format=%H', '--no-show-signature'] as const
    let of: Introduction | undefined
    let isPath = false
    // The id of a commit, then for each file `:<mode> <mode> <id> <id> <status>` and its path.
    for await (const part of partsOf(repo, 'log', flags, '\0', limits)) {
      if (isPath) isPath = false
      else if (change.test(part)) {
        isPath = true
        const blob = blobKey(Buffer.from(part.split(' ')[3]!, 'hex'))
        if (of && of.generation < (found.get(blob)?.generation ?? Number.POSITIVE_INFINITY)) found.set(blob, of)
      } else {
        const generation = generations.get(part)
        of = generation === undefined ? undefined : { generation, commit: Number.parseInt(part.slice(0, 8), 16) }
      }
    }
    return found
  })

async function withinLimits<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BeyondLimits || error instanceof GitTimeout) return undefined
    throw error
  }
}

/** What a process writes, divided at each `end`. */
async function* partsOf(
  repo: Repository,
  subcommand: Subcommand,
  flags: NonNullable<Command['flags']>,
  end: RecordFormat['end'],
  { bytes, ms }: typeof usualLimits,
): AsyncGenerator<string> {
  const command = { flags, lane: 'transfer', background: true, timeoutMs: ms } as const
  const limit = { bytes, beyond: () => new BeyondLimits() }
  for await (const parts of repo.records(subcommand, command, { end, limit }))
    for (const part of parts) yield part.toString('latin1')
}
