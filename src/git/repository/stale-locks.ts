import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ageOf } from '../../kernel/clock.ts'

/**
 * Removes what a git process that was killed, or a power cut, leaves behind: lock files of refs, of `HEAD` and of the
 * config, which would stop every later change. Git holds one for milliseconds, for minutes at the most when it moves
 * 100,000 refs: leave `olderThanMs` above that while anything may be running. Returns how many went. Walks `refs/`, no process.
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
