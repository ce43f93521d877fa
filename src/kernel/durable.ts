import { closeSync, fsync as fsyncCallback, fsyncSync, openSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

/*
 * After a power loss a file has its content if the file was synced, and its name if the folder that holds it was. POSIX promises no more
 * than that, and a rename or removal counts as a change of the folder.
 */

const fsync = promisify(fsyncCallback)

/** Makes the names in a folder survive a power loss. Throws `ENOENT` when there is no such folder. */
export async function syncFolder(path: string): Promise<void> {
  const folder = openSync(path, 'r')
  try {
    await fsync(folder)
  } finally {
    closeSync(folder)
  }
}

/** The same, for a start, which waits for it. */
export function syncFolderNow(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** Syncs at once: more would only queue up before the disk. */
const atOnce = 32

/** The same for each of these folders. Those that do not exist are left out: whatever was in them is gone. */
export async function syncFolders(paths: Iterable<string>): Promise<void> {
  const all = [...new Set(paths)]
  for (let at = 0; at < all.length; at += atOnce) {
    await Promise.all(all.slice(at, at + atOnce).map((path) => syncFolder(path).catch(unlessGone)))
  }
}

/** Makes the names in a folder and in all folders below it survive a power loss. */
export async function syncTree(path: string): Promise<void> {
  const folders: string[] = []
  const open = [path]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    folders.push(folder)
    // Another process may remove a folder while we look.
    const entries = await readdir(folder, { withFileTypes: true }).catch(unlessGone)
    for (const entry of entries ?? []) if (entry.isDirectory()) open.push(join(folder, entry.name))
  }
  await syncFolders(folders)
}

function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}

/** Makes a folder, with those above it that are missing, and makes their names survive a power loss. `mode` is for new ones. */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const first = await mkdir(path, { recursive: true, ...(mode !== undefined && { mode }) })
  if (first !== undefined) await syncFolders(parentsOfNew(resolve(first), resolve(path)))
}

/** Folders with a new name in them, after all from `first` down to `last` were made. */
export function parentsOfNew(first: string, last: string): string[] {
  const parents = [dirname(first)]
  for (let folder = last; folder.length > first.length; folder = dirname(folder)) parents.push(dirname(folder))
  return parents
}
