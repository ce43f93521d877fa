import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Description } from './describe.ts'

/** OIDs below this are the same in every database. */
const firstOwnOid = 16_384

let folder: string | undefined

/** The folder of a test run, whose temporary folder is its own (`test/global-setup.ts`). */
export const statementsFolder = (): string => join(tmpdir(), 'statements')

/** From now on descriptions are read from this folder and written to it: the processes of a test run share them. */
export function shareDescriptions(shared: string): void {
  mkdirSync(shared, { recursive: true })
  folder = shared
}

/** What another process of the test run wrote about a statement. All of them have the same schema. */
export function readDescription(text: string): Description | undefined {
  if (folder === undefined) return undefined
  try {
    return JSON.parse(readFileSync(fileOf(folder, text), 'utf8'))
  } catch {
    return undefined
  }
}

/** Stores a description for the other processes, unless it names types of one database. */
export function writeDescription(text: string, description: Description): void {
  if (folder === undefined || description.columns.some(({ type }) => type >= firstOwnOid)) return
  const file = fileOf(folder, text)
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, JSON.stringify(description))
  renameSync(draft, file)
}

const fileOf = (shared: string, text: string): string =>
  join(shared, createHash('sha256').update(text).digest('base64url'))
