import { rmSync, type Stats } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ageOf } from '../../kernel/clock.ts'
import { isThere, missingAs, namesIn } from '../../kernel/missing.ts'
import { isHolderName, OwnedLock, removeOldLock, removeUnownedLock } from './owned-lock.ts'
import { mayBeChanging } from './processes-in.ts'

const packedRefsLock = 'packed-refs.lock'

/** Longer than a lock is held for the refs of one helper, or to pack few refs. */
const heldMs = 5_000

/**
 * Removes the lock files of refs, of `HEAD` and of the config that a killed git process or a power loss left behind; they would
 * block every later change. Git holds a lock for milliseconds, or minutes when it moves 100,000 refs: `olderThanMs` must exceed
 * that while git may be running. Those of processes of the service go earlier (`owned-lock.ts`), and so do those of git if none runs in the
 * repository, as after a kill of the whole service. Returns the number removed; throws if a folder cannot be read.
 * Walks `refs/`, no process.
 */
export async function removeStaleLocks(
  repo: { readonly gitDir: string },
  { olderThanMs }: { olderThanMs: number },
): Promise<number> {
  const names = await readdir(join(repo.gitDir, 'refs'), { recursive: true }).catch(missingAs<string[]>([]))
  const others = await namesIn(repo.gitDir)
  const locks = [
    packedRefsLock,
    'HEAD.lock',
    'config.lock',
    ...names.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name)),
    ...others.filter(isHolderName),
  ]
  let removed = 0
  const younger: { path: string; found: Stats }[] = []
  for (const lock of locks) {
    const path = join(repo.gitDir, lock)
    const found = await stat(path).catch(() => undefined)
    if (!found?.isFile()) continue
    if (olderThanMs > 0 && ageOf(found.mtimeMs) <= olderThanMs) {
      if (ageOf(found.mtimeMs) > heldMs) younger.push({ path, found })
      continue
    }
    // The second name of a lock, which no other lock gets.
    if (isHolderName(lock)) await rm(path, { force: true })
    else if (!removeOldLock(repo.gitDir, path, found)) continue
    removed++
  }
  // The owner of a lock that was there before ran when the processes are read, or runs no more.
  if (younger.length > 0 && !(await mayBeChanging(repo.gitDir)))
    for (const { path, found } of younger) if (removeUnownedLock(repo.gitDir, path, found)) removed++
  return removeUnfinishedPackedRefs(repo.gitDir) ? removed + 1 : removed
}

/**
 * Removes the new list of packed refs that a killed git process has not put into its place: git would refuse for ever to write another. Git
 * writes one only with the lock, so that none is being written while this process has it. False if there is none, or the lock is taken.
 */
function removeUnfinishedPackedRefs(gitDir: string): boolean {
  const path = join(gitDir, 'packed-refs.new')
  if (!isThere(path)) return false
  using lock = takePackedRefs(gitDir)
  if (!lock || !isThere(path)) return false
  rmSync(path)
  return true
}

/** `undefined` if it is taken or cannot be created. */
function takePackedRefs(gitDir: string): OwnedLock | undefined {
  try {
    return OwnedLock.take(gitDir, join(gitDir, packedRefsLock))
  } catch {
    return undefined
  }
}

const minuteMs = 60_000

/** Locks of files that only maintenance writes, and longer than git holds each: a bitmap is written under the lock of the index of all packs. */
const maintenanceLocks = [
  ['objects/info/commit-graph.lock', 10 * minuteMs],
  ['objects/info/commit-graphs/commit-graph-chain.lock', 10 * minuteMs],
  ['objects/pack/multi-pack-index.lock', 60 * minuteMs],
] as const

/**
 * Removes the locks that a killed git process or a power loss left behind; git would refuse this maintenance for ever. One that is older
 * than this process has no owner, because git processes end with the one that started them, and maintenance of a repository takes turns.
 */
export async function removeMaintenanceLocks({ gitDir }: { readonly gitDir: string }): Promise<void> {
  for (const [lock, longestMs] of maintenanceLocks) {
    const path = join(gitDir, lock)
    const found = await stat(path).catch(() => undefined)
    if (found?.isFile() && ageOf(found.mtimeMs) > Math.min(longestMs, performance.now()))
      removeOldLock(gitDir, path, found)
  }
}

/**
 * Removes, a few seconds later, the locks that a killed `git update-ref` left on the refs it was moving: until then they block
 * every other change of these refs. A lock of another process is gone by then, or has other content.
 */
export async function removeLocksOfKilled(
  { gitDir }: { readonly gitDir: string },
  updates: readonly { readonly name: string; readonly to: string | null }[],
): Promise<void> {
  const left = await Promise.all(
    updates.map(async ({ name, to }) => {
      const path = join(gitDir, `${name}.lock`)
      try {
        const isOurs = (await readFile(path, 'latin1')) === (to === null ? '' : `${to}\n`)
        return isOurs ? [{ path, found: await stat(path) }] : []
      } catch {
        return []
      }
    }),
  )
  const remove = async () => {
    for (const { path, found } of left.flat()) removeOldLock(gitDir, path, found)
  }
  if (left.flat().length > 0) setTimeout(() => void remove().catch(() => {}), heldMs).unref()
}

/**
 * Removes, a few seconds later, the lock of packed refs that a killed git process left: until then it blocks every deletion of refs. A lock
 * of another process is gone by then. To delete or pack many refs, a process holds it for longer, and a slot of transfers: the
 * lock stays while the repository has one, as `inUse` says.
 */
export async function removePackedLockOfKilled(
  { gitDir }: { readonly gitDir: string },
  inUse: () => Promise<boolean>,
): Promise<void> {
  const path = join(gitDir, packedRefsLock)
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return
  const remove = async (): Promise<void> => {
    const isBusy = await inUse()
    const now = await stat(path).catch(() => undefined)
    if (now?.ino !== found.ino || now.mtimeMs !== found.mtimeMs) return
    if (isBusy) return removeLater()
    if (removeOldLock(gitDir, path, found)) removeUnfinishedPackedRefs(gitDir)
  }
  const removeLater = () => void setTimeout(() => void remove().catch(() => {}), heldMs).unref()
  removeLater()
}
