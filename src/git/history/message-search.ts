import type { Oid } from '../format/oid.ts'
import type { Commit } from '../objects/commits.ts'
import type { Found } from '../objects/text-search.ts'
import type { Repository } from '../repository/repository.ts'
import { GitError } from '../runner/git-error.ts'

/** A commit that was found in the history of one of several others. */
export type FoundCommit = {
  readonly oid: Oid
  /** Which of them that is: of several, one. */
  readonly tip: Oid
  /** Since 1970, by the committer's clock. */
  readonly seconds: number
}

export type MessageSearch = {
  /** One line of plain text; case does not matter. */
  readonly message: string
  /** Maximum number of results; ends the search. */
  readonly maxFound: number
  readonly timeoutMs: number
}

/** Commits by a text in their message, in the histories of some commits, each once, the newest first. One `log` process. */
export async function searchMessages(
  repo: Repository,
  tips: readonly Oid[],
  { message, maxFound, timeoutMs }: MessageSearch,
): Promise<Found<FoundCommit>> {
  const { found, timedOut } = await readLog(
    repo,
    tips,
    // The text stands in the word of its flag, so it is none itself.
    [`--grep=${message}`, '--fixed-strings', '--regexp-ignore-case', `--max-count=${maxFound + 1}`],
    timeoutMs,
  )
  return { found: found.slice(0, maxFound), complete: !timedOut && found.length <= maxFound, timedOut }
}

/** A commit as it is found from some others; `undefined` when none of them has it in its history. One `log` process. */
export async function findBelow(
  repo: Repository,
  tips: readonly Oid[],
  { oid, committer }: Commit,
  timeoutMs: number,
): Promise<FoundCommit | undefined> {
  const moment = Math.max(0, committer.seconds)
  // Git looks no further back than that moment.
  const { found } = await readLog(repo, tips, [`--max-age=${moment}`, `--min-age=${moment}`], timeoutMs)
  return found.find((each) => each.oid === oid)
}

async function readLog(
  repo: Repository,
  tips: readonly Oid[],
  flags: readonly `-${string}`[],
  timeoutMs: number,
): Promise<{ found: FoundCommit[]; timedOut: boolean }> {
  const child = await repo.start('log', {
    flags: ['--format=%H %ct %S', '--no-show-signature', '--no-decorate', ...flags],
    args: tips,
    timeoutMs,
  })
  const chunks: Buffer[] = []
  for await (const chunk of child as AsyncIterable<Buffer>) chunks.push(chunk)
  const { code, signal, stderr, timedOut } = await child.done
  if (!timedOut && code !== 0) throw new GitError('log', code, signal, stderr)
  const lines = Buffer.concat(chunks).toString('latin1').split('\n')
  // What follows the last newline was cut off.
  const found = lines.slice(0, -1).map((line): FoundCommit => {
    const [oid, seconds, tip] = line.split(' ') as [Oid, string, Oid]
    return { oid, seconds: Number(seconds), tip }
  })
  return { found, timedOut }
}
