import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolders } from '../../kernel/durable.ts'
import type { Oid } from '../format/oid.ts'
import type { QuarantinedRepository, Repository } from '../repository/repository.ts'
import { whileFoldersGo } from './objects.ts'

/**
 * Lends a repository whose new objects go to a folder of their own, which ends with `work`: for what may turn out to be
 * of no use. A folder left behind by a crash has a name that git's clean-up knows.
 */
export async function inScratch<T>(repo: Repository, work: (scratch: QuarantinedRepository) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(repo.objectDir, 'tmp_objdir-scratch-'))
  try {
    await using scratch = repo.inQuarantine(folder)
    return await work(scratch)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Moves the loose objects of a scratch to its repository, durably, but for `except`. They must have been synced when written. */
export async function keepObjects(repo: Repository, scratch: Repository, except: ReadonlySet<Oid>): Promise<void> {
  const folders = (await readdir(scratch.objectDir)).filter((name) => /^[0-9a-f]{2}$/.test(name))
  for (const folder of folders) {
    const names = (await readdir(join(scratch.objectDir, folder))).filter(
      (name) => /^[0-9a-f]+$/.test(name) && !except.has(`${folder}${name}` as Oid),
    )
    if (names.length === 0) continue
    const target = join(repo.objectDir, folder)
    let made: string | undefined
    let moved = 0
    await whileFoldersGo(async () => {
      made = (await mkdir(target, { recursive: true })) ?? made
      for (; moved < names.length; moved++)
        await rename(join(scratch.objectDir, folder, names[moved]!), join(target, names[moved]!))
    })
    await syncFolders(made === undefined ? [target] : [target, repo.objectDir])
  }
}
