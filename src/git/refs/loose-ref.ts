import { closeSync, fsync as fsyncCallback, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Oid } from '../format/oid.ts'
import type { RefName } from '../format/ref-name.ts'
import { readCommit } from '../objects/commits.ts'
import type { Repository } from '../repository/repository.ts'
import { readLooseRef } from './ref-files.ts'

const fsync = promisify(fsyncCallback)

/**
 * Moves a ref that has a file of its own to a commit, as git does: its lock is a file beside it that only one can make; whoever has
 * it compares, writes, and renames it into place. No process. `undefined`, having changed nothing, where only git can, or can say
 * why not: the ref is packed or symbolic, somebody has the lock, it is no commit, the disk is full.
 */
export async function moveLooseRef(
  repo: Repository,
  { name, from, to }: { readonly name: RefName; readonly from: Oid; readonly to: Oid },
): Promise<'moved' | 'stale' | undefined> {
  if (!(await readCommit(repo, to))) return undefined
  const path = `${repo.gitDir}/${name}`
  const lock = `${path}.lock`
  const file = openNew(lock)
  if (file === undefined) return undefined
  let isOurs = true
  try {
    // Nobody moves or packs it while we have the lock.
    const now = readLooseRef(repo, name)
    if (now !== from) return now === undefined || now === 'ask' ? undefined : 'stale'
    writeFileSync(file, `${to}\n`)
    await fsync(file)
    renameSync(lock, path)
    isOurs = false
    return 'moved'
  } catch {
    return undefined
  } finally {
    closeSync(file)
    if (isOurs) rmSync(lock, { force: true })
  }
}

/** A file that was not there. */
function openNew(path: string): number | undefined {
  try {
    return openSync(path, 'wx', 0o666)
  } catch {
    return undefined
  }
}
