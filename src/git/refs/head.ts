import { open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ageOf } from '../../kernel/clock.ts'
import { syncFolder } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { branchRef } from '../format/ref-name.ts'
import type { Repository } from '../repository/repository.ts'

const attempts = 50

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
  const path = join(repo.gitDir, 'HEAD')
  const lock = `${path}.lock`
  const file = await openLock(lock)
  try {
    await file.writeFile(`ref: ${ref}\n`)
    await file.sync()
    await file.close()
    await rename(lock, path)
  } catch (error) {
    await file.close().catch(() => {})
    await rm(lock, { force: true })
    throw error
  }
  await syncFolder(repo.gitDir)
}

/** Much longer than the lock is held: an older one is of a process that was killed. */
const staleLockMs = 60_000

const isStale = (path: string): Promise<boolean> =>
  stat(path).then(
    ({ mtimeMs }) => ageOf(mtimeMs) > staleLockMs,
    () => false,
  )

/** The same lock file that git uses. */
async function openLock(path: string) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await open(path, 'wx')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (await isStale(path)) await rm(path, { force: true })
      if (attempt === attempts) throw new Failure('unavailable', 'Another process is changing HEAD', { cause: error })
      await sleep(20)
    }
  }
}
