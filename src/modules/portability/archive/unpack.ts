import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable, pipeline as streamThrough, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { ArchiveRefusal } from './refusal.ts'
import { readTar, shown } from './tar-reader.ts'

export type UnpackLimits = {
  /** Maximum bytes of all entries together. */
  readonly bytes: number
  readonly entries: number
}

const gibibyte = 1024 ** 3

/**
 * Limits for an archive of a size. Text compresses to a tenth, seldom to a hundredth; what unpacks to much more than its size was made
 * to fill the disk.
 */
export const limitsFor = (archiveBytes: number): UnpackLimits => ({
  bytes: Math.max(gibibyte, 30 * archiveBytes),
  entries: 200_000,
})

/** An unpacked entry: a file with a name of ours. */
export type UnpackedFile = { readonly path: string; readonly size: number }

/** The entries of an archive by their names. */
export type Unpacked = ReadonlyMap<string, UnpackedFile>

const isGzipError = (error: unknown): boolean =>
  typeof (error as NodeJS.ErrnoException).code === 'string' && /^Z_/.test((error as NodeJS.ErrnoException).code!)

/**
 * Unpacks a tar.gz of anyone's making into an empty folder. No name of the archive reaches the file system. Throws `ArchiveRefusal`
 * with the reason. Constant memory, apart from the names.
 */
export async function unpack(source: Readable, folder: string, limits: UnpackLimits): Promise<Unpacked> {
  const files = new Map<string, UnpackedFile>()
  let bytes = 0
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > limits.bytes + limits.entries * 1024)
        return done(new ArchiveRefusal('The archive is much larger unpacked than a project of its size can be'))
      done(null, chunk)
    },
  })
  const plain = new Transform({ transform: (chunk, _encoding, done) => done(null, chunk) })
  const reading = pipeline(source, createGunzip(), counting, plain)
  // Read below, after the entries.
  reading.catch(() => {})
  try {
    for await (const { name, size, body } of readTar(plain)) {
      if (name === '.') throw new ArchiveRefusal('An entry has no name')
      if (files.has(name)) throw new ArchiveRefusal(`${shown(name)} is in the archive twice`)
      if (files.size === limits.entries) throw new ArchiveRefusal(`The archive has more than ${limits.entries} entries`)
      const path = join(folder, String(files.size))
      files.set(name, { path, size })
      await pipeline(Readable.from(body, { objectMode: false }), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
    }
  } catch (error) {
    plain.destroy()
    const cause = await reading.then(
      () => error,
      (first) => (first instanceof ArchiveRefusal || isGzipError(first) ? first : error),
    )
    throw isGzipError(cause) ? new ArchiveRefusal('It is not a gzip archive, or damaged') : cause
  }
  plain.destroy()
  await reading.catch(() => {})
  return files
}

/** Whether a file begins as a tar.gz does: what can be said of an upload at once. */
export async function looksLikeArchive(path: string): Promise<boolean> {
  // Unlike `pipe`, closes the file with the reader, which seldom reads to the end.
  const plain = streamThrough(createReadStream(path, { end: 256 * 1024 }), createGunzip(), () => {})
  try {
    for await (const _entry of readTar(plain as AsyncIterable<Buffer>)) return true
    return false
  } catch {
    return false
  } finally {
    plain.destroy()
  }
}
