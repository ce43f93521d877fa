import type { Command, Repository } from '../repository/repository.ts'
import type { Subcommand } from '../runner/command.ts'
import { GitError } from '../runner/git-error.ts'
import type { Introduction } from './sketch-file.ts'

/** Of larger histories, generations take too much memory. */
const maxCommits = 300_000

const timeoutMs = 60 * 60_000

/** Generations of all commits that refs reach, by id: one more than the largest of the parents. One process. */
export async function commitGenerations(repo: Repository): Promise<ReadonlyMap<string, number> | undefined> {
  const generations = new Map<string, number>()
  for await (const line of partsOf(repo, '\n', 'rev-list', ['--all', '--parents', '--topo-order', '--reverse'])) {
    const [commit, ...parents] = line.split(' ')
    if (generations.size === maxCommits) return undefined
    generations.set(commit!, 1 + parents.reduce((most, parent) => Math.max(most, generations.get(parent) ?? 0), 0))
  }
  return generations
}

/** Binary ids as text; as parts of larger texts, ids would keep those in memory. */
export const blobKey = (id: Buffer): string => id.toString('latin1')

/**
 * Where the blobs first came into the history of these commits, by `blobKey`. One process, which compares each commit with its first
 * parent: what a merge has from another parent came into the history there.
 */
export async function introductionsOf(
  repo: Repository,
  generations: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, Introduction>> {
  const found = new Map<string, Introduction>()
  const flags = ['--all', '--raw', '-z', '--no-abbrev', '--root', '--no-renames', '--diff-merges=first-parent'] as const
  let of: Introduction | undefined
  let isPath = false
  for await (const part of partsOf(repo, '\0', 'log', [...flags, '--format=%H', '--no-show-signature'])) {
    if (isPath) isPath = false
    else if (/^\n?:/.test(part)) {
      isPath = true
      const blob = blobKey(Buffer.from(part.split(' ')[3]!, 'hex'))
      if (of && of.generation < (found.get(blob)?.generation ?? Number.POSITIVE_INFINITY)) found.set(blob, of)
    } else {
      const generation = generations.get(part)
      of = generation === undefined ? undefined : { generation, commit: Number.parseInt(part.slice(0, 8), 16) }
    }
  }
  return found
}

/** What a process writes, divided at each `end`. */
async function* partsOf(
  repo: Repository,
  end: string,
  subcommand: Subcommand,
  flags: NonNullable<Command['flags']>,
): AsyncGenerator<string> {
  const child = await repo.start(subcommand, { flags, lane: 'transfer', background: true, timeoutMs })
  let rest = ''
  for await (const chunk of child as AsyncIterable<Buffer>) {
    const parts = (rest + chunk.toString('latin1')).split(end)
    rest = parts.pop()!
    yield* parts
  }
  const { code, signal, stderr } = await child.done
  if (code !== 0) throw new GitError(subcommand, code, signal, stderr)
}
