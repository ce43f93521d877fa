import { rmSync } from 'node:fs'
import { isThere } from '../../kernel/missing.ts'
import type { Oid } from '../format/oid.ts'
import type { RefName } from '../format/ref-name.ts'
import { readCommit } from '../objects/commits.ts'
import { OwnedLock } from '../repository/owned-lock.ts'
import type { Repository } from '../repository/repository.ts'
import { isBrokenRef, readLooseRef } from './ref-files.ts'

/**
 * Moves a loose ref to a commit, or creates one in a folder that exists, as git does: creates the lock file exclusively, compares, writes, and
 * renames it over the ref. The lock of a process that was killed is removed at once. No process. `undefined`, without any change, if only git can do it or explain why not: the ref is packed or
 * symbolic, a new one might be packed or have the name of a folder of refs, the lock stays taken, the target is not a commit, or the disk is full.
 */
export async function moveLooseRef(
  repo: Repository,
  { name, from, to }: { readonly name: RefName; readonly from: Oid | 'absent'; readonly to: Oid },
): Promise<'moved' | 'stale' | undefined> {
  // Also of an annotated tag the commit is found.
  if ((await readCommit(repo, to))?.oid !== to) return undefined
  const path = `${repo.gitDir}/${name}`
  const taken = await takeLock(repo, `${path}.lock`, () => isStale(readLooseRef(repo, name), from))
  if (!(taken instanceof OwnedLock)) return taken && 'stale'
  using lock = taken
  try {
    // The lock is held: no other process moves or packs the ref.
    const now = readLooseRef(repo, name) ?? (mayHavePacked(repo) ? undefined : 'absent')
    if (now !== from) return now === undefined || now === 'ask' ? undefined : 'stale'
    await lock.write(`${to}\n`)
    lock.replace(path)
    return 'moved'
  } catch {
    return undefined
  }
}

/**
 * Removes the file of a damaged ref under its lock, which git refuses. `stale`, without any change, if the file is not damaged; `undefined` if the
 * lock stays taken.
 */
export async function removeBrokenRef(repo: Repository, name: RefName): Promise<'removed' | 'stale' | undefined> {
  const path = `${repo.gitDir}/${name}`
  const taken = await takeLock(repo, `${path}.lock`, () => !isBrokenRef(repo, name))
  if (!(taken instanceof OwnedLock)) return taken && 'stale'
  using _lock = taken
  if (!isBrokenRef(repo, name)) return 'stale'
  rmSync(path)
  return 'removed'
}

const mayHavePacked = ({ gitDir }: Repository): boolean =>
  isThere(`${gitDir}/packed-refs`) || isThere(`${gitDir}/reftable`)

const isStale = (now: Oid | 'ask' | undefined, from: Oid | 'absent'): boolean =>
  now !== undefined && now !== 'ask' && now !== from

/** Maximum time to wait for a lock, which others hold for a millisecond or two, as git does (`core.filesRefLockTimeout`). */
const lockMs = 1000

/** Creates a lock file; `undefined` if that is impossible. Those who wait for one learn from the ref that they are late. */
const takeLock = (
  { gitDir }: Repository,
  path: string,
  isLate: () => boolean,
): Promise<OwnedLock | 'late' | undefined> =>
  OwnedLock.wait(gitDir, path, { ms: lockMs, isLate }).catch(() => undefined)
