import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { syncFolders } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { isThere } from '../../kernel/missing.ts'
import { nullOid, type Oid } from '../format/oid.ts'
import { branchName, type RefName } from '../format/ref-name.ts'
import { objectInfos } from '../objects/cat-file.ts'
import { removeLockOfKilled } from '../repository/owned-lock.ts'
import type { Repository } from '../repository/repository.ts'
import { removeLocksOfKilled, removePackedLockOfKilled, removeStaleLocks } from '../repository/stale-locks.ts'
import { damaged } from '../runner/damage.ts'
import { isDiskFull } from '../runner/git-error.ts'
import { HelperDeath, type Question } from '../runner/helper.ts'
import { Inbox } from '../runner/inbox.ts'
import { moveLooseRef, removeBrokenRef } from './loose-ref.ts'
import { isBrokenRef, readRefFile } from './ref-files.ts'
import { brokenTarget, listRefTips, readRefs } from './refs.ts'

/** A failure that guarantees that no ref has moved. */
export class NothingMoved extends Failure {}

/** `to: null` deletes. `from` is the expected current target; omit it to skip the check. A damaged ref, `brokenTarget`, can only be deleted. */
export type RefUpdate = { readonly name: RefName; readonly to: Oid | null; readonly from?: Oid | 'absent' }

const attempts = 3
/** Larger transactions run in their own process. */
export const manyRefs = 500
const manyRefsMs = 30 * 60_000
const staleLockMs = 30 * 60_000

/**
 * Moves refs atomically by compare-and-swap. Returns `stale`, without any change, if a ref is not at its `from`. A successful
 * move is durable. Throws `NothingMoved`: `conflict` if a new name collides with an existing one (`a` and `a/b`),
 * `unprocessable` if `to` is not an object of the repository, `unavailable` if another process holds a lock for too long. After
 * any other error some or all refs may have moved. A single branch is updated, or created if nothing is packed, here; otherwise one round trip to a
 * long-lived `update-ref`, about 1 ms with its fsync.
 */
export async function updateRefs(repo: Repository, updates: readonly RefUpdate[]): Promise<'moved' | 'stale'> {
  if (updates.length === 0) return 'moved'
  const outcome = await move(repo, updates)
  // The folders are not synced yet. Without this, a power loss would undo a confirmed move.
  if (outcome === 'moved') await syncRefs(repo, updates)
  return outcome
}

/**
 * Makes ref updates durable: git syncs the file of a ref, but neither its name nor its removal. `to: null` for deleted refs.
 * One fsync per folder, all concurrently.
 */
export const syncRefs = (repo: Repository, moved: readonly Pick<RefUpdate, 'name' | 'to'>[]): Promise<void> =>
  syncFolders([
    ...moved.flatMap(({ name }) => foldersToSync(name)).map((folder) => `${repo.gitDir}/${folder}`),
    // Deleting a packed ref rewrites `packed-refs`.
    ...(moved.some(({ to }) => to === null) ? [repo.gitDir] : []),
  ])

/** The folder of a ref and its parents, up to one that every repository has from its creation. */
function foldersToSync(name: RefName): string[] {
  const folders: string[] = []
  for (let folder = dirname(name); folder !== '.'; folder = dirname(folder)) {
    folders.push(folder)
    if (folder === 'refs/heads' || folder === 'refs/tags') break
  }
  return folders
}

async function move(repo: Repository, updates: readonly RefUpdate[]): Promise<'moved' | 'stale'> {
  const outcome = updates.length === 1 ? await moveAlone(repo, updates[0]!) : undefined
  if (outcome) return outcome
  // A large transaction exceeds the helper's timeout and would delay other requests.
  const ask = updates.length > manyRefs ? askOnce : askHelper
  for (let attempt = 1; ; attempt++) {
    // Checks the most common reason first, because a failed transaction costs a process. `update-ref`, which holds the locks,
    // decides.
    if (await isStale(repo, updates)) return 'stale'
    const transaction = new RefTransaction(updates)
    try {
      await ask(repo, transaction)
      return 'moved'
    } catch (error) {
      if (!(error instanceof HelperDeath)) throw error
      // A process that a signal ended, such as one of the kernel when memory is short, leaves its locks.
      if (error.exit.signal !== null) {
        await removeLocksOfKilled(repo, updates)
        if (updates.some(({ to }) => to === null)) await removePackedLockOfKilled(repo, () => isInTransfer(repo))
      }
      // The outcome is read from the repository, not parsed from git's messages.
      if (transaction.isPrepared) {
        if (await haveMoved(repo, updates)) return 'moved'
        throw new Failure('unavailable', 'Only some of the references were changed', { cause: error })
      }
      if (await isStale(repo, updates)) return 'stale'
      for (const failure of (await impossibleUpdates(repo, updates)).values()) throw failure
      if (isDiskFull(error.exit.stderr))
        throw new NothingMoved('storage_full', 'Insufficient Storage', { cause: error })
      // The remaining cause is a lock held by another process for too long.
      // Git locks `HEAD` together with the branch that it names, and the packed refs to delete one.
      const others = ['HEAD', 'packed-refs'].map((name) => `${repo.gitDir}/${name}.lock`)
      const locks = [...updates.map(({ name }) => lockOf(repo, name)), ...others]
      const removed = locks.filter((lock) => removeLockOfKilled(repo.gitDir, lock))
      if (removed.length > 0 || (await removeStaleLocks(repo, { olderThanMs: staleLockMs })) > 0) continue
      if (attempt >= attempts) throw new NothingMoved('unavailable', changedByAnother, { cause: error })
      await sleep(20 * attempt * Math.random())
    }
  }
}

const changedByAnother = 'The reference is being changed by another process'

const updateRef = { flags: ['--no-deref', '-z', '--stdin'] } as const

const askHelper = async (repo: Repository, transaction: RefTransaction): Promise<true> =>
  (await repo.helper('update-ref', 'update-ref', updateRef)).ask(transaction)

/** Runs the transaction in its own process, with a long timeout. Rejects as the helper does. */
async function askOnce(repo: Repository, transaction: RefTransaction): Promise<void> {
  const child = await repo.start('update-ref', {
    ...updateRef,
    stdin: true,
    lane: 'transfer',
    nested: true,
    timeoutMs: manyRefsMs,
  })
  child.end(transaction.request)
  const inbox = new Inbox()
  let answer: { answer: true } | undefined
  for await (const chunk of child as AsyncIterable<Buffer>) {
    inbox.push(chunk)
    answer ??= transaction.read(inbox)
  }
  const exit = await child.done
  if (!answer) throw new HelperDeath(exit)
}

/** `undefined` if git has to do it. */
async function moveAlone(repo: Repository, { name, from, to }: RefUpdate): Promise<'moved' | 'stale' | undefined> {
  if (to !== null) return from === undefined ? undefined : moveLooseRef(repo, { name, from, to })
  if (from !== brokenTarget) return undefined
  const removed = await removeBrokenRef(repo, name)
  if (removed === undefined) throw new NothingMoved('unavailable', changedByAnother)
  if (removed === 'stale') return removed
  // An older target may be packed, which git does not remove while the file is damaged.
  return readRefFile(repo, name) === undefined ? 'moved' : move(repo, [{ name, to }])
}

const prepared = Buffer.from('start: ok\nprepare: ok\n')
const moved = Buffer.concat([prepared, Buffer.from('commit: ok\n')])

/** `prepare` takes every lock and checks every old value before `commit` writes anything. */
class RefTransaction implements Question<true> {
  readonly request: Buffer
  #isPrepared = false

  constructor(updates: readonly RefUpdate[]) {
    const steps = updates.map(({ name, to, from }) => {
      const old = from === 'absent' ? nullOid : (from ?? '')
      return to === null ? `delete ${name}\0${old}\0` : `update ${name}\0${to}\0${old}\0`
    })
    this.request = Buffer.from(`start\0${steps.join('')}prepare\0commit\0`)
  }

  /** Whether git has begun to move refs. If it ended before, none has moved; if after, some may have. */
  get isPrepared(): boolean {
    return this.#isPrepared
  }

  reset(): void {
    this.#isPrepared = false
  }

  read(inbox: Inbox): { answer: true } | undefined {
    this.#isPrepared = inbox.size >= prepared.length
    if (inbox.size < moved.length) return undefined
    if (!inbox.take(moved.length).equals(moved)) throw new Error('git update-ref answered something else')
    return { answer: true }
  }
}

/** Throws `NothingMoved` if a ref is damaged: its target is unknown. */
async function isStale(repo: Repository, updates: readonly RefUpdate[]): Promise<boolean> {
  const stale = await staleUpdates(repo, updates)
  if (stale.some(({ name }) => isBrokenRef(repo, name))) throw new NothingMoved('unavailable', damaged)
  return stale.length > 0
}

/** The updates whose ref is not at its `from`. */
export async function staleUpdates<Update extends RefUpdate>(
  repo: Repository,
  updates: readonly Update[],
): Promise<Update[]> {
  const expected = updates.filter(({ from }) => from !== undefined)
  const now = await readRefs(
    repo,
    expected.map(({ name }) => name),
  )
  return expected.filter(({ from }, index) => (now[index] ?? 'absent') !== from)
}

/** Whether a process with a slot of transfers runs, or waits, for the repository. */
export const isInTransfer = async ({ git, gitDir }: Repository): Promise<boolean> =>
  (await git.runner.ownersOfTransfers()).has(gitDir)

/** Whether a process holds the lock of the ref, or has left it. */
export const isLocked = (repo: Repository, name: RefName): boolean => isThere(lockOf(repo, name))

const lockOf = ({ gitDir }: Repository, name: RefName): string => `${gitDir}/${name}.lock`

/** Whether the refs are at their new targets: after a process was killed, only this shows whether it had finished. */
async function haveMoved(repo: Repository, updates: readonly RefUpdate[]) {
  const now = await readRefs(
    repo,
    updates.map(({ name }) => name),
  )
  return updates.every(({ to }, index) => (now[index] ?? null) === to)
}

/**
 * The updates that can never succeed, with their failures: `unprocessable` or `conflict`. Of two new names that collide, the
 * first is possible. A name that is deleted together with them is still in the way: git checks all names before it changes one.
 */
export async function impossibleUpdates(
  repo: Repository,
  updates: readonly RefUpdate[],
): Promise<ReadonlyMap<RefName, NothingMoved>> {
  const impossible = new Map<RefName, NothingMoved>()
  const objects = await repo.objects()
  const added = updates.filter(({ to }) => to !== null)
  const infos = await objectInfos(
    objects,
    added.map(({ to }) => to!),
  )
  for (const [index, { name, to }] of added.entries()) {
    const type = infos[index]?.type
    if (type === undefined) impossible.set(name, new NothingMoved('unprocessable', `The object ${to} does not exist`))
    else if (type !== 'commit' && branchName(name) !== undefined)
      impossible.set(
        name,
        new NothingMoved('unprocessable', `The object ${to} is a ${type}, and a branch points to a commit`),
      )
  }
  const names = new Set<string>()
  // Each folder with one of the names below it.
  const folders = new Map<string, RefName>()
  const take = (name: RefName) => {
    names.add(name)
    for (const folder of foldersOf(name)) folders.set(folder, name)
  }
  for (const { name } of await listRefTips(repo, 'refs/')) take(name)
  for (const { name } of added) {
    if (impossible.has(name)) continue
    const inWay = foldersOf(name).find((folder) => names.has(folder)) ?? folders.get(name)
    if (inWay === undefined) take(name)
    else
      impossible.set(
        name,
        new NothingMoved('conflict', `The reference ${name} cannot be created while ${inWay} exists`),
      )
  }
  return impossible
}

/** `refs/heads/a` and `refs/heads/a/b` of `refs/heads/a/b/c`. */
export const foldersOf = (name: RefName): RefName[] => {
  const parts = name.split('/')
  return parts.slice(3).map((_, index) => parts.slice(0, index + 3).join('/') as RefName)
}
