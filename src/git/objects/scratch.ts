import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolders } from '../../kernel/durable.ts'
import { isMissing, isThere } from '../../kernel/missing.ts'
import type { Oid } from '../format/oid.ts'
import type { QuarantinedRepository, Repository } from '../repository/repository.ts'
import { finishLoose, makeObjectFolder, type NewObject, whileFoldersGo, writeLoose } from './objects.ts'
import { looseType } from './read-object.ts'

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
 * Stores objects, each of which is there once, in a scratch repository. When it resolves they can be read; `durable` resolves when their content
 * is on the disk, and must be awaited before the scratch is removed.
 */
export async function storeInScratch(
  scratch: QuarantinedRepository,
  objects: readonly NewObject[],
): Promise<{ readonly durable: Promise<void> }> {
  const files: Promise<void>[] = []
  try {
    for (const object of objects) {
      const folder = join(scratch.objectDir, object.oid.slice(0, 2))
      await makeObjectFolder(folder)
      const finished = finishLoose(await writeLoose(join(folder, object.oid.slice(2)), object))
      // It is awaited after the others have been written.
      finished.catch(() => {})
      files.push(finished)
    }
  } catch (error) {
    await Promise.allSettled(files)
    if (isMissing(error) && !isThere(scratch.base.objectDir)) throw scratch.base.lost(error)
    throw error
  }
  const durable = Promise.all(files).then(() => {})
  // The caller awaits it only after it has decided what to do with the objects.
  durable.catch(() => {})
  return { durable }
}

/**
 * Moves the loose objects of a scratch repository to the real one, durably, except for `except`. The objects must already be
 * synced. Commits and tags come last, so that a process that is killed leaves none without its trees and files.
 */
export async function keepObjects(repo: Repository, scratch: Repository, except: ReadonlySet<Oid>): Promise<void> {
  const folders = (await readdir(scratch.objectDir)).filter((name) => /^[0-9a-f]{2}$/.test(name))
  const [others, referring]: [string[], string[]] = [[], []]
  for (const folder of folders) {
    for (const name of await readdir(join(scratch.objectDir, folder))) {
      const oid = `${folder}${name}` as Oid
      if (!/^[0-9a-f]+$/.test(name) || except.has(oid)) continue
      const type = looseType(scratch, oid)
      const group = type === 'commit' || type === 'tag' ? referring : others
      group.push(`${folder}/${name}`)
    }
  }
  if (others.length + referring.length === 0) return
  // Also if its folder was there: another push that has just made it may not have synced that yet.
  const changed = new Set([repo.objectDir])
  for (const path of [...others, ...referring]) {
    const target = join(repo.objectDir, dirname(path))
    await whileFoldersGo(repo, async () => {
      await makeObjectFolder(target)
      await rename(join(scratch.objectDir, path), join(repo.objectDir, path))
    })
    changed.add(target)
  }
  await syncFolders(changed)
}
