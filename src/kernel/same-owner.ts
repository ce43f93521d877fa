import { chownSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Gives a new file of root the owner of its folder: the service, which runs as that user, must read what a command of root has written. */
export function giveToFolderOwner(path: string): void {
  if (process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(path))
  if (uid === 0) return
  try {
    chownSync(path, uid, gid)
  } catch {
    // Root without this right, in a container for example.
  }
}
