import { readFileSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../../kernel/durable.ts'
import { Failure } from '../../../kernel/failure.ts'
import { isThere } from '../../../kernel/missing.ts'
import { giveToFolderOwner } from '../../../kernel/same-owner.ts'

/** Content of the file `installation` in a data folder. */
export type Marker = {
  readonly id: string
  /**
   * The repositories of the folder are still being given the keys of their projects; until then the id is not valid.
   */
  readonly pending: boolean
}

const fileOf = (dataDir: string): string => join(dataDir, 'installation')

/** Undefined for a folder without an installation. */
export function readMarker(dataDir: string): Marker | undefined {
  const file = fileOf(dataDir)
  if (!isThere(file)) return undefined
  const [, id, pending] = /^([0-9a-f-]{36})( pending)?\n$/.exec(readFileSync(file, 'utf8')) ?? []
  if (id === undefined)
    throw new Failure('unavailable', `The file ${file} contains no installation id: restore it from a backup.`)
  return { id, pending: pending !== undefined }
}

/** Writes the file atomically and durably. */
export async function writeMarker(dataDir: string, { id, pending }: Marker): Promise<void> {
  const unfinished = `${fileOf(dataDir)}.new`
  await rm(unfinished, { force: true })
  {
    await using file = await open(unfinished, 'wx', 0o600)
    await file.writeFile(`${id}${pending ? ' pending' : ''}\n`)
    await file.sync()
  }
  giveToFolderOwner(unfinished)
  await rename(unfinished, fileOf(dataDir))
  await syncFolder(dataDir)
}
