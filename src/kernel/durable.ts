import { closeSync, existsSync, fsync as fsyncCallback, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { isMissing, missingAs } from './missing.ts'

/*
 * After a power loss a file has its content if the file was synced, and its name if its folder was synced. POSIX promises no
 * more. Renaming and removing change the folder.
 */

/** Makes the content of an open file durable. */
export const syncFile = promisify(fsyncCallback)

/** Makes the entries of a folder durable. Throws `ENOENT` if the folder does not exist. */
export async function syncFolder(path: string): Promise<void> {
  const folder = openSync(path, 'r')
  try {
    await syncFile(folder)
  } finally {
    closeSync(folder)
  }
}

/** Like `syncFolder`, but synchronous; for startup code. */
export function syncFolderNow(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Concurrent syncs; more would only queue at the disk. */
const atOnce = 32

/** Syncs each of these folders. Skips missing ones: their content is gone anyway. */
export async function syncFolders(paths: Iterable<string>): Promise<void> {
  const all = [...new Set(paths)]
  for (let at = 0; at < all.length; at += atOnce) {
    await Promise.all(all.slice(at, at + atOnce).map((path) => syncFolder(path).catch(missingAs(undefined))))
  }
}

/** Makes the entries of a folder and of all folders below it durable. */
export async function syncTree(path: string): Promise<void> {
  const folders: string[] = []
  const open = [path]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    folders.push(folder)
    // Another process may remove a folder meanwhile.
    const entries = await readdir(folder, { withFileTypes: true }).catch(missingAs([]))
    for (const entry of entries) if (entry.isDirectory()) open.push(join(folder, entry.name))
  }
  await syncFolders(folders)
}

/** Creates a folder and its missing parents durably. `mode` applies to new ones. */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const first = await mkdir(path, { recursive: true, ...(mode !== undefined && { mode }) }).catch(async (error) => {
    throw isMissing(error) ? await reasonAgainst(resolve(path), error) : error
  })
  if (first !== undefined) await syncFolders(parentsOfNew(resolve(first), resolve(path)))
}

/**
 * Like `makeFolder`, but synchronous; for startup code. Without the option `recursive` of Node, which never returns where the system
 * creates no folders (`/proc`, automounts), and gives a wrong reason on a read-only disk.
 */
export function makeFolderNow(path: string, mode: number): void {
  const folder = resolve(path)
  if (existsSync(folder) && statSync(folder).isDirectory()) return
  const parent = dirname(folder)
  if (!existsSync(parent)) makeFolderNow(parent, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process was first, or something else is there.
    if (!existsSync(folder) || !statSync(folder).isDirectory()) throw error
  }
  syncFolderNow(parent)
}

/** The error of the topmost folder that cannot be created: Node reports a read-only disk or an exhausted quota as `ENOENT` of the whole path. */
async function reasonAgainst(path: string, missing: Error): Promise<Error> {
  for (let folder = path; ; folder = dirname(folder)) {
    const error = await mkdir(folder).then(
      () => missing,
      (error: Error) => error,
    )
    if (error === missing || !isMissing(error)) return error
  }
}

/** The folders that got a new entry when all folders from `first` down to `last` were created. */
export function parentsOfNew(first: string, last: string): string[] {
  const parents = [dirname(first)]
  for (let folder = last; folder.length > first.length; folder = dirname(folder)) parents.push(dirname(folder))
  return parents
}
