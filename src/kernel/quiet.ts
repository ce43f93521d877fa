import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from './missing.ts'

const fileOf = (dataDir: string): string => join(dataDir, 'quiet')

/**
 * Whether the data folder is that of a quiet copy of an installation: it sends no mails and hooks, and runs no jobs that contact other
 * servers. They wait until an operator deletes the file `quiet`.
 */
export const isQuiet = (dataDir: string): boolean => isThere(fileOf(dataDir))

/** Makes the installation of a data folder quiet from its next start, or not. */
export function setQuiet(dataDir: string, quiet: boolean): void {
  if (quiet)
    writeFileSync(fileOf(dataDir), 'Delete this file and restart Stithy to send mails, hooks and mirrors again.\n', {
      mode: 0o600,
      flush: true,
    })
  else rmSync(fileOf(dataDir), { force: true })
}
