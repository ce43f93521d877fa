import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolders } from '../../kernel/durable.ts'
import { isMissing } from '../../kernel/missing.ts'
import type { Oid } from '../format/oid.ts'
import type { QuarantinedRepository, Repository } from '../repository/repository.ts'
import { makeObjectFolder, whileFoldersGo } from './objects.ts'

/**
 * Runs `work` with a repository whose new objects go to a temporary folder, removed afterwards. Its name has a prefix that
 * git's garbage collection removes after a crash. `holdsSlot` as for `Repository.inQuarantine`. Throws `unprocessable` if the repository is gone.
 */
export async function inScratch<T>(
  repo: Repository,
  work: (scratch: QuarantinedRepository) => Promise<T>,
  options: { readonly holdsSlot?: boolean } = {},
): Promise<T> {
  const folder = await mkdtemp(join(repo.objectDir, 'tmp_objdir-scratch-')).catch((error: unknown) => {
    if (isMissing(error)) throw repo.lost(error)
    throw error
  })
  try {
    await using scratch = repo.inQuarantine(folder, options)
    return await work(scratch)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Moves the loose objects of a scratch repository to the real one, durably, except for `except`. The objects must already be
 * synced.
 */
export async function keepObjects(repo: Repository, scratch: Repository, except: ReadonlySet<Oid>): Promise<void> {
  const folders = (await readdir(scratch.objectDir)).filter((name) => /^[0-9a-f]{2}$/.test(name))
  // Also if its folder was there: another push that has just made it may not have synced that yet.
  const changed = new Set([repo.objectDir])
  for (const folder of folders) {
    const names = (await readdir(join(scratch.objectDir, folder))).filter(
      (name) => /^[0-9a-f]+$/.test(name) && !except.has(`${folder}${name}` as Oid),
    )
    if (names.length === 0) continue
    const target = join(repo.objectDir, folder)
    let moved = 0
    await whileFoldersGo(repo, async () => {
      await makeObjectFolder(target)
      for (; moved < names.length; moved++)
        await rename(join(scratch.objectDir, folder, names[moved]!), join(target, names[moved]!))
    })
    changed.add(target)
  }
  if (changed.size > 1) await syncFolders(changed)
}
