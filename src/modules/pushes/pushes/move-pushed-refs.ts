import type { RefChange } from '../../../git/ref-change.ts'
import type { MoveOutcome } from '../../../git/ref-moves.ts'
import type { RefName } from '../../../git/ref-name.ts'
import { updateRefs } from '../../../git/refs.ts'
import type { Repository } from '../../../git/repository.ts'
import { Failure } from '../../../kernel/failure.ts'

/** Refs of one transaction: it holds a lock file for each, and answers within the timeout of a git helper. */
const maxRefsAtOnce = 500

/**
 * Moves the refs of a push, hundreds at once: 4,000 take a third of the time that they take one by one. When one of a batch
 * cannot be moved, none of the batch has, and git may try each by itself. An atomic push of more than one batch is left to
 * git, which moves it at once.
 */
export async function movePushedRefs(
  repo: Repository,
  updates: readonly RefChange[],
  isAtomic: boolean,
): Promise<ReadonlyMap<RefName, MoveOutcome>> {
  const outcomes = new Map<RefName, MoveOutcome>()
  // Deleting what does not exist is a success with a warning, which only git gives.
  const ours = updates.filter(({ from, to }) => from !== null || to !== null)
  if (isAtomic && (ours.length < updates.length || ours.length > maxRefsAtOnce)) return outcomes
  for (let at = 0; at < ours.length; at += maxRefsAtOnce) {
    const batch = ours.slice(at, at + maxRefsAtOnce)
    const outcome = await moveBatch(repo, batch)
    if (outcome) for (const { name } of batch) outcomes.set(name, outcome)
  }
  return outcomes
}

/** All or none, unless it failed. `undefined` when none has moved for a reason that lies in some of the refs. */
async function moveBatch(repo: Repository, batch: readonly RefChange[]): Promise<MoveOutcome | undefined> {
  try {
    const updates = batch.map(({ name, from, to }) => ({ name, from: from ?? ('absent' as const), to }))
    return (await updateRefs(repo, updates)) === 'moved' ? 'moved' : undefined
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Only of these two it is certain that nothing has moved. After others the refs are compared with the journal.
    return error.kind === 'conflict' || error.kind === 'unprocessable' ? undefined : { failed: error.message }
  }
}
