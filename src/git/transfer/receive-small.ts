import { join } from 'node:path'
import type { Oid } from '../format/oid.ts'
import type { RefName } from '../format/ref-name.ts'
import { objectInfo } from '../objects/cat-file.ts'
import type { NewObject } from '../objects/objects.ts'
import { isPlain } from '../objects/plain-object.ts'
import { isLoose, readLooseObject, readObject } from '../objects/read-object.ts'
import { inScratch, keepObjects, storeInScratch } from '../objects/scratch.ts'
import { type Base, readPack } from '../objects/small-pack.ts'
import type { QuarantinedRepository, Repository } from '../repository/repository.ts'
import { reasonOf, saysUnusable } from '../runner/damage.ts'
import { GitError } from '../runner/git-error.ts'
import { reportOf } from './push-report.ts'
import type { SmallRequest } from './push-request.ts'
import type { AfterMoves, MoveOutcome, MoveRefs } from './ref-moves.ts'
import { isConnected, knowObjects } from './small-push.ts'
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
 * are moved durably, then the refs. At most one process, for objects of the pack that only git can check. `undefined` if nothing was decided and git has to
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
    let stored: Stored | undefined
    try {
      const tips = updates.map(({ to }) => to as Oid)
      stored = await store(quarantine, objects === 0 ? undefined : pack, tips, timeoutMs)
      if (!stored) return undefined
      const verdict = await onVerdict({ updates, pushOptions, quarantine })
      messages.push(...(verdict.messages ?? []))
      if (!verdict.ok) return { report: report(declined) }
      // Helpers hold files of the quarantine open.
      await Promise.all([quarantine[Symbol.asyncDispose](), stored.durable])
      await keepObjects(repo, quarantine, new Set())
    } catch (error) {
      return undecided(error)
    } finally {
      await Promise.allSettled([stored?.durable])
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

/** Objects that can be read; `durable` resolves when their content is on the disk. */
type Stored = { readonly durable: Promise<void> }

const alreadyStored: Stored = { durable: Promise.resolve() }

/**
 * Stores the objects of a pack with the checks of `transfer.fsckObjects`: in this process if these accept them beyond doubt, else by git. `undefined` if
 * git refuses them, or something may be missing of what the tips lead to. Throws if git could not read what they build on, and names a damaged
 * file of the repository.
 */
async function store(
  quarantine: QuarantinedRepository,
  pack: Buffer | undefined,
  tips: readonly Oid[],
  timeoutMs: number,
): Promise<Stored | undefined> {
  const objects = pack && (await plainObjects(quarantine.base, pack))
  if (objects) {
    knowObjects(quarantine, objects)
    return (await isConnected(quarantine, tips)) ? storeInScratch(quarantine, objects) : undefined
  }
  if (pack && !(await unpack(quarantine, pack, timeoutMs))) return undefined
  return (await isConnected(quarantine, tips)) ? alreadyStored : undefined
}

/** The objects of a pack, if git accepts each beyond doubt and none is there already. */
async function plainObjects(repo: Repository, pack: Buffer): Promise<readonly NewObject[] | undefined> {
  const objects = await readPack(pack, (oid, maxBytes) => readBase(repo, oid, maxBytes))
  if (!objects) return undefined
  const oids = new Set(objects.map(({ oid }) => oid))
  // Git compares an object that is there already with the new one of the same hash.
  const isAccepted = (object: NewObject) => isPlain(object, (oid) => oids.has(oid)) && !isLoose(repo, object.oid)
  return objects.every(isAccepted) ? objects : undefined
}

/** Asks for the size of a packed one before its content, which `cat-file` would send in any case. */
async function readBase(repo: Repository, oid: Oid, maxBytes: number): Promise<Base | undefined> {
  const loose = await readLooseObject(repo, oid)
  if (loose) return loose
  const sizeBytes = (await objectInfo(await repo.objects(), oid))?.sizeBytes ?? Number.POSITIVE_INFINITY
  const found = sizeBytes > maxBytes ? undefined : await readObject(repo, oid, maxBytes)
  return found?.content && { type: found.type, content: found.content }
}

/** Whether git has stored the objects of the pack. */
async function unpack(quarantine: QuarantinedRepository, pack: Buffer, timeoutMs: number): Promise<boolean> {
  try {
    await quarantine.run('unpack-objects', { flags: ['-q', '--strict'], input: pack, lane: 'transfer', timeoutMs })
    return true
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    const isDamaged = saysUnusable(error.stderr) || error.stderr.includes(join(quarantine.base.objectDir, 'pack'))
    if (isDamaged) throw error
    return false
  }
}
