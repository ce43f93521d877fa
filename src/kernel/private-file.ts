import { randomUUID } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolderNow } from './durable.ts'
import { giveToFolderOwner } from './same-owner.ts'

/** Writes a file atomically and durably, readable only by its owner: a crash leaves the old content or the new one. */
export function writePrivateFile(path: string, text: string): void {
  const unfinished = `${path}.${randomUUID()}`
  try {
    writeFileSync(unfinished, text, { flag: 'wx', mode: 0o600, flush: true })
    giveToFolderOwner(unfinished)
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
  syncFolderNow(dirname(path))
}
