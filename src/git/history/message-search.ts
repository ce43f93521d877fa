import type { Oid } from '../format/oid.ts'
import type { Commit } from '../objects/commits.ts'
import type { Found } from '../objects/text-search.ts'
import type { Repository } from '../repository/repository.ts'
import { GitTimeout } from '../runner/git-error.ts'
import { flagsOfPeriod, latestLimit, period } from './period.ts'

/** A commit found in the history of at least one of the tips. */
export type FoundCommit = {
  readonly oid: Oid
  /** The tip whose history has the commit; one of them if several have it. */
  readonly tip: Oid
  /** Committer time, seconds since 1970. */
  readonly seconds: number
}

export type MessageSearch = {
  /** One line of plain text, case-insensitive. */
  readonly message: string
  /** Maximum number of results; the search ends there. */
  readonly maxFound: number
  readonly timeoutMs: number
}

/** Searches commit messages in the histories of `tips`: each commit once, newest first. One `log` process. */
export async function searchMessages(
  repo: Repository,
  tips: readonly Oid[],
  { message, maxFound, timeoutMs }: MessageSearch,
): Promise<Found<FoundCommit>> {
  const { found, timedOut } = await readLog(
    repo,
    tips,
    // The text is part of the flag's argument, so it cannot be a flag itself.
    [`--grep=${message}`, '--fixed-strings', '--regexp-ignore-case', `--max-count=${maxFound + 1}`],
    timeoutMs,
  )
  return { found: found.slice(0, maxFound), complete: !timedOut && found.length <= maxFound, timedOut }
}

/** Locates a commit in the histories of `tips`; `undefined` if none has it. One `log` process. */
export async function findBelow(
  repo: Repository,
  tips: readonly Oid[],
  { oid, committer }: Commit,
  timeoutMs: number,
): Promise<FoundCommit | undefined> {
  const at = new Date(1000 * Math.min(Math.max(0, committer.seconds), latestLimit))
  // Limits the traversal to commits of that time or newer.
  const flags = flagsOfPeriod({ since: at, ...period({ until: at }) })
  const { found } = await readLog(repo, tips, flags, timeoutMs)
  return found.find((each) => each.oid === oid)
}

async function readLog(
  repo: Repository,
  tips: readonly Oid[],
  flags: readonly `-${string}`[],
  timeoutMs: number,
): Promise<{ found: FoundCommit[]; timedOut: boolean }> {
  const command = {
    flags: ['--format=%H %ct %S', '--no-show-signature', '--no-decorate', ...flags],
    args: tips,
    timeoutMs,
  } as const
  const found: FoundCommit[] = []
  try {
    for await (const lines of repo.records('log', command, { end: '\n' }))
      for (const line of lines) {
        const [oid, seconds, tip] = line.toString('latin1').split(' ') as [Oid, string, Oid]
        found.push({ oid, seconds: Number(seconds), tip })
      }
    return { found, timedOut: false }
  } catch (error) {
    if (!(error instanceof GitTimeout)) throw error
    return { found, timedOut: true }
  }
}
