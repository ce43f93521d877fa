import { setTimeout as sleep } from 'node:timers/promises'
import type { RefName } from '../../../git/format/ref-name.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import type { Failure } from '../../../kernel/failure.ts'
import { runExclusive } from '../../../kernel/keyed-mutex.ts'

/** Maximum attempts when other processes move the ref first. */
const attempts = 30

/**
 * Runs `work` after earlier work of this process on the same ref: writers of one process do not compete. Compare-and-swap
 * detects those in other processes, so the work retries (`retryWhileStale`).
 */
export const inTurn = <T>(repo: Repository, ref: RefName, work: () => Promise<T>): Promise<T> =>
  runExclusive(`${repo.gitDir} ${ref}`, work)

/** Repeats an attempt to move a ref, after a short pause, until it is not `stale`. Throws `lost` if others are always first. */
export async function retryWhileStale<T>(tryOnce: () => Promise<T | 'stale'>, lost: () => Failure): Promise<T> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const outcome = await tryOnce()
    if (outcome !== 'stale') return outcome as T
    await sleep(5 * Math.min(attempt, 6) * Math.random())
  }
  throw lost()
}
