import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { longTarHeader, tarEnd, tarPadding } from '../../../git/format/tar.ts'

/** An entry of an archive that is written: a file, or a blob that is opened when it is its turn. */
export type PackedEntry = {
  readonly name: string
  readonly size: number
  readonly open: () => Promise<Readable> | Readable
}

/** The entry of a file. */
export const fileEntry = (name: string, path: string, size: number): PackedEntry => ({
  name,
  size,
  open: () => createReadStream(path),
})

/** Every archive has the same times: equal content gives equal bytes. */
const epoch = new Date(0)

async function* tarOf(entries: readonly PackedEntry[]): AsyncGenerator<Buffer> {
  const sorted = entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
  for (const { name, size, open } of sorted) {
    yield longTarHeader(name, size, epoch)
    let read = 0
    for await (const chunk of (await open()) as AsyncIterable<Buffer>) {
      read += chunk.length
      yield chunk
    }
    if (read !== size) throw new Error(`an entry has changed while it was packed: ${name}`)
    yield tarPadding(size)
  }
  yield tarEnd()
}

/** A tar.gz of the entries, sorted by name. Streams with constant memory, apart from the names. */
export function pack(entries: readonly PackedEntry[]): Readable {
  const tar = Readable.from(tarOf(entries), { objectMode: false })
  const gzip = createGzip({ level: 6 })
  tar.on('error', (error) => gzip.destroy(error))
  gzip.on('close', () => tar.destroy())
  return tar.pipe(gzip)
}
