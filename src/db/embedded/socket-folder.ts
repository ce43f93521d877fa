import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../../kernel/failure.ts'

/** The kernel takes 107 bytes (103 on macOS) with the name of the socket itself. */
const longestFolder = 80

/**
 * A path to `folder` that is short enough for sockets in it: its own path, or a link at a short path. The same folder gives the
 * same path in every process; created if missing. Idempotent.
 */
export function shortFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (Buffer.byteLength(folder) <= longestFolder) return folder
  const uid = process.geteuid?.() ?? 0
  const name = `stithy-${uid}-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`
  // Not $TMPDIR: it may be long as well, and may differ between two processes that must use the same path.
  const place = [`/run/user/${uid}`, ...(uid === 0 ? ['/run'] : [])].find(isWritable) ?? '/tmp'
  const link = join(place, name)
  const found = lstatSync(link, { throwIfNoEntry: false })
  if (found?.isSymbolicLink() && found.uid === uid && readlinkSync(link) === folder) return link
  try {
    rmSync(link, { force: true })
    symlinkSync(folder, link)
  } catch (cause) {
    throw new Failure('unavailable', `${link} belongs to another user and Stithy needs that name: remove it.`, {
      cause,
    })
  }
  return link
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
