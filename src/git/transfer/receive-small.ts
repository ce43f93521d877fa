import { join } from 'node:path'
import type { Oid } from '../format/oid.ts'
import type { RefName } from '../format/ref-name.ts'
import { inScratch, keepObjects } from '../objects/scratch.ts'
import type { QuarantinedRepository, Repository } from '../repository/repository.ts'
import { reasonOf, saysUnusable } from '../runner/damage.ts'
import { GitError } from '../runner/git-error.ts'
import { reportOf } from './push-report.ts'
import type { SmallRequest } from './push-request.ts'
import type { AfterMoves, MoveOutcome, MoveRefs } from './ref-moves.ts'
import { isConnected } from './small-push.ts'
import type { PushRequest, Verdict } from './verdict.ts'

export type Decisions = {
  onVerdict(request: PushRequest): Promise<Verdict>
  /** See `ReceiveOptions`. */
  readonly onUndecided?: ((error: unknown) => void) | undefined
  readonly onMove: MoveRefs
  readonly afterMoves?: AfterMoves | undefined
}

/** The response to a push, and the error that ended it. */
export type Received = { readonly report: Buffer; readonly error?: unknown }

/** What git says of a hook that refuses a push, and of a ref that it could not move. */
const declined: MoveOutcome = { failed: 'pre-receive hook declined', mayHaveMoved: false }
const unknown: MoveOutcome = { failed: 'failed to update ref', mayHaveMoved: true }

/**
 * Receives a small push as `receive-pack` does, in the same order: the objects are checked in quarantine, the push is decided on, the objects
 * are moved durably, then the refs. One process, for the objects of the pack, if there are any. `undefined` if nothing was decided and git has to
 * tell: the objects are damaged, or only a walk of the history shows that none is missing.
 */
export const receiveSmall = (
  repo: Repository,
  { updates, pushOptions, isAtomic, objects, pack }: SmallRequest,
  { onVerdict, onUndecided, onMove, afterMoves = async () => [] }: Decisions,
  timeoutMs: number,
): Promise<Received | undefined> => {
  const receive = async (quarantine: QuarantinedRepository) => {
    const messages: string[] = []
    const report = (outcomes: ReadonlyMap<RefName, MoveOutcome> | MoveOutcome) =>
      reportOf(messages, updates, ({ name }) => (outcomes instanceof Map ? outcomes.get(name) : outcomes))
    const undecided = (error: unknown): Received => {
      messages.push(reasonOf(error))
      onUndecided?.(error)
      return { report: report(declined), ...(!onUndecided && { error }) }
    }
    const unpacked = objects === 0 || (await unpack(quarantine, pack, timeoutMs))
    if (unpacked instanceof GitError) return undecided(unpacked)
    if (!unpacked) return undefined
    try {
      const tips = updates.map(({ to }) => to as Oid)
      if (!(await isConnected(quarantine, tips))) return undefined
      const verdict = await onVerdict({ updates, pushOptions, quarantine })
      messages.push(...(verdict.messages ?? []))
      if (!verdict.ok) return { report: report(declined) }
      // Helpers hold files of the quarantine open.
      await quarantine[Symbol.asyncDispose]()
      await keepObjects(repo, quarantine, new Set())
    } catch (error) {
      return undecided(error)
    }
    try {
      const outcomes = await onMove(updates, isAtomic)
      messages.push(...(await afterMoves()))
      return { report: report(outcomes) }
    } catch (error) {
      return { report: report(unknown), error }
    }
  }
  // The processes of the decision take slots like those of other work: no `receive-pack` holds one for them.
  return inScratch(repo, receive, { holdsSlot: false })
}

/**
 * Stores the objects of a pack with the checks of `transfer.fsckObjects`. False if git refuses them; the error if it could not read what they
 * build on, and names a damaged file of the repository.
 */
async function unpack(quarantine: QuarantinedRepository, pack: Buffer, timeoutMs: number): Promise<boolean | GitError> {
  try {
    await quarantine.run('unpack-objects', { flags: ['-q', '--strict'], input: pack, lane: 'transfer', timeoutMs })
    return true
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const isDamaged = saysUnusable(error.stderr) || error.stderr.includes(join(quarantine.base.objectDir, 'pack'))
    return isDamaged && error
  }
}
