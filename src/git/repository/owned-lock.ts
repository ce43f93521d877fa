import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ageOf } from '../../kernel/clock.ts'
import { syncFile } from '../../kernel/durable.ts'
import { isMissing } from '../../kernel/missing.ts'
import { isOwnerGone, ownerMark } from '../../kernel/owner-mark.ts'

/*
 * Lock files that this process makes, at the names where git makes its own. Each has a second name in the folder of the repository that says
 * which process made it. If that process no longer exists, the next process that needs the lock removes it. Locks of git have one name; only
 * `removeUnownedLock` and `removeOldLock` remove them.
 */

const newHolderName = (): string => `holder-${ownerMark()}-${randomUUID()}.lock`

const holderName = /^holder-[0-9a-f]{8}-\d+-[0-9a-f-]{36}\.lock$/

/** Whether a file in the folder of a repository is the second name of a lock. */
export const isHolderName = (name: string): boolean => holderName.test(name)

type Waiting = {
  readonly ms: number
  /** Much longer than the lock is held: an older one is of a process that was killed. Default: none is. */
  readonly staleAfterMs?: number
  readonly isLate?: () => boolean
}

/** A lock file that exists from `take` on, until it is disposed of or becomes the file that it locks. */
export class OwnedLock implements Disposable {
  readonly #file: number
  readonly #path: string
  readonly #holder: string | undefined
  #isThere = true

  private constructor(file: number, path: string, holder: string | undefined) {
    this.#file = file
    this.#path = path
    this.#holder = holder
  }

  /** `undefined` if the lock is taken. Throws if it cannot be created. */
  static take(gitDir: string, path: string): OwnedLock | undefined {
    if (existsSync(path)) return undefined
    const holder = join(gitDir, newHolderName())
    const file = openSync(holder, 'wx', 0o666)
    try {
      linkSync(holder, path)
      return new OwnedLock(file, path, holder)
    } catch (error) {
      closeSync(file)
      rmSync(holder, { force: true })
      if (isTaken(error)) return undefined
      // Some file systems have no second names.
      return OwnedLock.#takeUnnamed(path)
    }
  }

  /**
   * Like `take`, but waits up to `ms`; `undefined` if the lock stays taken. Removes the lock of a process that was killed, and one older than
   * `staleAfterMs`. `'late'` as soon as `isLate` finds that another owner made the lock useless.
   */
  static async wait(
    gitDir: string,
    path: string,
    { ms, staleAfterMs = Infinity, isLate = () => false }: Waiting,
  ): Promise<OwnedLock | 'late' | undefined> {
    const until = performance.now() + ms
    for (;;) {
      const lock = OwnedLock.take(gitDir, path)
      if (lock || performance.now() > until) return lock
      if (isLate()) return 'late'
      if (removeLockOfKilled(gitDir, path) || removeStaleLock(gitDir, path, staleAfterMs)) continue
      await sleep(1 + 9 * Math.random())
    }
  }

  static #takeUnnamed(path: string): OwnedLock | undefined {
    try {
      return new OwnedLock(openSync(path, 'wx', 0o666), path, undefined)
    } catch (error) {
      if (isTaken(error)) return undefined
      throw error
    }
  }

  /** Writes the new content, which is durable when this resolves. */
  async write(content: string): Promise<void> {
    writeFileSync(this.#file, content)
    await syncFile(this.#file)
  }

  /** Puts the lock file, which has the new content, in the place of the file that it locks. */
  replace(path: string): void {
    renameSync(this.#path, path)
    this.#isThere = false
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
    if (this.#isThere) rmSync(this.#path, { force: true })
    if (this.#holder !== undefined) rmSync(this.#holder, { force: true })
  }
}

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST'

/** Removes a lock file whose process has been killed. False if there is none, or it may have an owner. */
export function removeLockOfKilled(gitDir: string, path: string): boolean {
  const lock = statSync(path, { throwIfNoEntry: false })
  if (!lock || lock.nlink === 1) return false
  const holder = readdirSync(gitDir).find(
    (name) => isHolderName(name) && statSync(join(gitDir, name), { throwIfNoEntry: false })?.ino === lock.ino,
  )
  if (holder === undefined || !isOwnerGone(holder)) return false
  const ours = join(gitDir, newHolderName())
  try {
    // Only one process succeeds and becomes the owner. Until it removes the lock, no other can exist.
    renameSync(join(gitDir, holder), ours)
  } catch {
    return false
  }
  const isStill = statSync(path, { throwIfNoEntry: false })?.ino === lock.ino
  if (isStill) rmSync(path, { force: true })
  rmSync(ours, { force: true })
  return isStill
}

/**
 * Removes a lock file of git, if it still is the one of these facts; its owner must be gone. False if it is another, if its process is named, or if
 * another process removes it.
 */
export const removeUnownedLock = (gitDir: string, path: string, found: Stats): boolean =>
  // On a file system without second names it may be a lock of this service.
  found.nlink === 1 && removeIfSame(gitDir, path, found) === true

/**
 * Removes a lock file that is older than any is held, if it still is the one of these facts. False if it is another, or if another process
 * removes it: one that has been taken since then stays.
 */
export function removeOldLock(gitDir: string, path: string, found: Stats): boolean {
  const removed = removeIfSame(gitDir, path, found)
  if (removed !== undefined) return removed
  const now = statSync(path, { throwIfNoEntry: false })
  if (now?.ino !== found.ino || now.mtimeMs !== found.mtimeMs) return false
  rmSync(path, { force: true })
  return true
}

function removeStaleLock(gitDir: string, path: string, staleAfterMs: number): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && ageOf(found.mtimeMs) > staleAfterMs && removeOldLock(gitDir, path, found)
}

/** `undefined` on a file system without second names. */
function removeIfSame(gitDir: string, path: string, { ino, mtimeMs, nlink }: Stats): boolean | undefined {
  const ours = join(gitDir, newHolderName())
  try {
    linkSync(path, ours)
  } catch (error) {
    return isMissing(error) ? false : undefined
  }
  const now = statSync(ours)
  // Another name is of a new owner, or of another process that removes the lock.
  const isThat = now.ino === ino && now.mtimeMs === mtimeMs && now.nlink === nlink + 1
  if (isThat) rmSync(path, { force: true })
  rmSync(ours, { force: true })
  return isThat
}
