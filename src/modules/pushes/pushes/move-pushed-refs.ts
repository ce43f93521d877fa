import type { RefChange } from '../../../git/ref-change.ts'
import type { MoveOutcome } from '../../../git/ref-moves.ts'
import type { RefName } from '../../../git/ref-name.ts'
import { readRefs, updateRefs } from '../../../git/refs.ts'
import type { Repository } from '../../../git/repository.ts'
import { Failure } from '../../../kernel/failure.ts'

/** Refs of one transaction: it holds a lock file for each, and answers within the timeout of a git helper. */
const maxRefsAtOnce = 500

/** Whether an update changes anything: a client may ask to delete a ref that it knows does not exist. */
export const changesRef = ({ from, to }: RefChange): boolean => from !== null || to !== null

/**
 * Moves the refs of a push, hundreds at once: 4,000 take a third of the time that they take one by one. When one of a batch
 * cannot be moved, none of the batch has, and git may try each by itself. An atomic push of more than one batch is left to
 * git, which moves it at once. To delete what does not exist succeeds.
 */
export async function movePushedRefs(
  repo: Repository,
  updates: readonly RefChange[],
  isAtomic: boolean,
): Promise<ReadonlyMap<RefName, MoveOutcome>> {
  const refused = new Map([...(await refuseWrongDeletions(repo, updates)), ...refuseShortNames(updates)])
  if (isAtomic && refused.size > 0)
    return new Map(updates.map(({ name }) => [name, refused.get(name) ?? unmoved('atomic push failed')]))
  const outcomes = new Map<RefName, MoveOutcome>(refused)
  const left = updates.filter(({ name }) => !refused.has(name))
  for (const { name } of left.filter((update) => !changesRef(update))) outcomes.set(name, 'moved')
  const ours = left.filter(changesRef)
  if (isAtomic && ours.length > maxRefsAtOnce) return outcomes
  for (let at = 0; at < ours.length; at += maxRefsAtOnce) {
    const batch = ours.slice(at, at + maxRefsAtOnce)
    const outcome = await moveBatch(repo, batch)
    if (outcome) for (const { name } of batch) outcomes.set(name, outcome)
  }
  return outcomes
}

const unmoved = (failed: string): MoveOutcome => ({ failed, mayHaveMoved: false })

/**
 * Refs directly below `refs/`, which git refuses from a push but not from us: one called `refs/tags` is a file where the
 * folder of all tags belongs. The other refs of the push still move.
 */
const refuseShortNames = (updates: readonly RefChange[]): ReadonlyMap<RefName, MoveOutcome> =>
  new Map(
    updates
      .filter(({ name, to }) => to !== null && name.split('/').length < 3)
      .map(({ name }) => [name, unmoved('the name needs a folder below refs/')]),
  )

/**
 * Deletions whose old value the ref does not have. They must not reach git: it deletes a ref whatever its value when the old
 * value is none or an object that does not exist.
 */
async function refuseWrongDeletions(
  repo: Repository,
  updates: readonly RefChange[],
): Promise<ReadonlyMap<RefName, MoveOutcome>> {
  const deletions = updates.filter(({ to }) => to === null)
  const now = await readRefs(
    repo,
    deletions.map(({ name }) => name),
  )
  const wrong = deletions.filter(({ from }, index) => (now[index] ?? null) !== from)
  return new Map(wrong.map(({ name }) => [name, unmoved('the reference has moved')]))
}

/** All or none, unless it failed. `undefined` when none has moved for a reason that lies in some of the refs. */
async function moveBatch(repo: Repository, batch: readonly RefChange[]): Promise<MoveOutcome | undefined> {
  try {
    const updates = batch.map(({ name, from, to }) => ({ name, from: from ?? ('absent' as const), to }))
    return (await updateRefs(repo, updates)) === 'moved' ? 'moved' : undefined
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Only of these two it is certain that nothing has moved. After others the refs are compared with the journal.
    return error.kind === 'conflict' || error.kind === 'unprocessable'
      ? undefined
      : { failed: error.message, mayHaveMoved: true }
  }
}
