import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type Written, writeFileOf } from '../../../blobs/write-file.ts'
import { makeFolder, syncFolder } from '../../../kernel/durable.ts'
import { isMissing, missingAs, namesIn } from '../../../kernel/missing.ts'
import type { Part } from './queries.ts'

const uploadsIn = (folder: string): string => join(folder, 'uploads')

export const fileOf = (folder: string, file: string): string => join(uploadsIn(folder), file)

/** Ids of uploads and names of their files. */
export const isUuid = (name: string): boolean => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(name)

/**
 * Writes a stream to a new file, and returns its name; the file and its name are durable afterwards. If the source breaks, the file has
 * what arrived before. If writing fails, or `check` throws for the number of bytes so far, no file remains.
 */
export async function writeUpload(
  folder: string,
  source: AsyncIterable<Buffer>,
  check: (bytes: number) => void,
): Promise<Written & { readonly file: string }> {
  const file = randomUUID()
  const path = fileOf(folder, file)
  await makeFolder(uploadsIn(folder), 0o700)
  try {
    const written = await writeFileOf(path, source, check)
    await syncFolder(uploadsIn(folder))
    return { ...written, file }
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

/** Bytes of one read. */
const readBytes = 1024 * 1024

/** The bytes of the parts, one file after the other. */
export const readParts = (folder: string, parts: readonly Part[]): Readable =>
  Readable.from(
    (async function* () {
      for (const { file } of parts) yield* createReadStream(fileOf(folder, file), { highWaterMark: readBytes })
    })(),
    { objectMode: false },
  )

export const removeFiles = async (folder: string, parts: readonly Pick<Part, 'file'>[]): Promise<void> => {
  for (const { file } of parts) await rm(fileOf(folder, file), { force: true })
}

/** Whether all parts have their files. */
export async function hasFiles(folder: string, parts: readonly Pick<Part, 'file'>[]): Promise<boolean> {
  for (const { file } of parts)
    try {
      await stat(fileOf(folder, file))
    } catch (error) {
      if (!isMissing(error)) throw error
      return false
    }
  return true
}

/** Names of the files last written before this time. */
export async function oldFiles(folder: string, before: Date): Promise<string[]> {
  const names = await namesIn(uploadsIn(folder))
  const old: string[] = []
  for (const name of names.filter(isUuid)) {
    const facts = await stat(fileOf(folder, name)).catch(missingAs(undefined))
    if (facts && facts.mtime < before) old.push(name)
  }
  return old
}
