import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ageOf } from '../../kernel/clock.ts'

/**
 * Removes the lock files of refs, of `HEAD` and of the config that a killed git process or a power loss left behind; they would
 * block every later change. Git holds a lock for milliseconds, or minutes when it moves 100,000 refs: `olderThanMs` must exceed
 * that while git may be running. Returns the number removed. Walks `refs/`, no process.
 */
export async function removeStaleLocks(
  repo: { readonly gitDir: string },
  { olderThanMs }: { olderThanMs: number },
): Promise<number> {
  const names = await readdir(join(repo.gitDir, 'refs'), { recursive: true }).catch(() => [])
  const locks = [
    'packed-refs.lock',
    'HEAD.lock',
    'config.lock',
    ...names.filter((name) => name.endsWith('.lock')).map((name) => join('refs', name)),
  ]
  let removed = 0
  for (const lock of locks) {
    const path = join(repo.gitDir, lock)
    const found = await stat(path).catch(() => undefined)
    if (!found?.isFile() || (olderThanMs > 0 && ageOf(found.mtimeMs) <= olderThanMs)) continue
    await rm(path, { force: true })
    removed++
  }
  return removed
}
