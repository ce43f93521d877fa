import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Digest } from '../../../blobs/blob-store.ts'
import { makeFolder, syncFolder } from '../../../kernel/durable.ts'
import type { Part } from './queries.ts'

const uploadsIn = (folder: string): string => join(folder, 'uploads')

export const fileOf = (folder: string, file: string): string => join(uploadsIn(folder), file)

const isName = (name: string): boolean => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(name)

/** A file being written. `broken` is the error that ended the source early. */
export type WrittenFile = {
  readonly size: number
  readonly file: string
  readonly digest: Digest
  readonly broken?: unknown
}

/** Bytes that wait for the disk. */
const buffered = 1024 * 1024

/**
 * Writes a stream to a new file and computes its digest; the file and its name are durable afterwards. If the source breaks, the
 * file has what arrived before. If writing fails, or `check` throws for the number of bytes so far, no file remains.
 */
export async function writeFileOf(
  folder: string,
  source: AsyncIterable<Buffer>,
  check: (bytes: number) => void,
): Promise<WrittenFile> {
  const file = randomUUID()
  const path = fileOf(folder, file)
  await makeFolder(uploadsIn(folder), 0o700)
  const hash = createHash('sha256')
  const out = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: buffered, flush: true })
  const failed = new Promise<never>((_, reject) => out.once('error', reject))
  failed.catch(() => {})
  let size = 0
  let broken: unknown
  try {
    const chunks = source[Symbol.asyncIterator]()
    for (;;) {
      let next: IteratorResult<Buffer>
      try {
        next = await chunks.next()
      } catch (error) {
        broken = error
        break
      }
      if (next.done) break
      size += next.value.length
      check(size)
      hash.update(next.value)
      if (!out.write(next.value)) await Promise.race([once(out, 'drain'), failed])
    }
    out.end()
    await Promise.race([once(out, 'close'), failed])
    await syncFolder(uploadsIn(folder))
  } catch (error) {
    out.destroy()
    await rm(path, { force: true })
    throw error
  }
  return { size, file, digest: hash.digest('hex') as Digest, ...(broken !== undefined && { broken }) }
}

/** The bytes of the parts, one file after the other. */
export const readParts = (folder: string, parts: readonly Part[]): Readable =>
  Readable.from(
    (async function* () {
      for (const { file } of parts) yield* createReadStream(fileOf(folder, file), { highWaterMark: buffered })
    })(),
    { objectMode: false },
  )

export const removeFiles = async (folder: string, parts: readonly Pick<Part, 'file'>[]): Promise<void> => {
  for (const { file } of parts) await rm(fileOf(folder, file), { force: true })
}

/** Names of the files last written before this time. */
export async function oldFiles(folder: string, before: Date): Promise<string[]> {
  const names = await readdir(uploadsIn(folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return []
  })
  const old: string[] = []
  for (const name of names.filter(isName)) {
    const facts = await stat(fileOf(folder, name)).catch(() => undefined)
    if (facts && facts.mtime < before) old.push(name)
  }
  return old
}
