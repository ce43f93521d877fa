import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../../../kernel/failure.ts'
import { isThere } from '../../../kernel/missing.ts'
import { writePrivateFile } from '../../../kernel/private-file.ts'

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
export const writeMarker = (dataDir: string, { id, pending }: Marker): void =>
  writePrivateFile(fileOf(dataDir), `${id}${pending ? ' pending' : ''}\n`)
