import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { missingAs } from '../../kernel/missing.ts'
import { branchRef } from '../format/ref-name.ts'
import { OwnedLock } from '../repository/owned-lock.ts'
import type { Repository } from '../repository/repository.ts'

const lockMs = 1000

/** Much longer than the lock is held: an older one is of a process that was killed. */
const staleLockMs = 60_000

/**
 * Points `HEAD` at a branch, which need not exist. Writes the file itself, because git syncs neither the file nor its name, and
 * a repository with an empty `HEAD` is invalid. Throws `Failure('invalid')` for an invalid branch name,
 * `Failure('unprocessable')` if the repository does not exist, and `Failure('unavailable')` if another process holds the lock
 * for a second.
 */
export async function setDefaultBranch(repo: Repository, name: string): Promise<void> {
  const ref = branchRef(name)
  if (!ref) throw new Failure('invalid', 'The default branch is not a valid branch name')
  if (!(await repo.exists())) throw new Failure('unprocessable', 'The repository does not exist')
  const [path, text] = [join(repo.gitDir, 'HEAD'), `ref: ${ref}\n`]
  if ((await readFile(path, 'utf8').catch(missingAs(''))) !== text) {
    // The same lock file that git uses.
    const taken = await OwnedLock.wait(repo.gitDir, `${path}.lock`, { ms: lockMs, staleAfterMs: staleLockMs })
    if (!(taken instanceof OwnedLock)) throw new Failure('unavailable', 'Another process is changing HEAD')
    using lock = taken
    await lock.write(text)
    lock.replace(path)
  }
  // Also of a process that was killed before it did.
  await syncFolder(repo.gitDir)
}
