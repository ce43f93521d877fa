import { withoutTrailing } from '../../../kernel/without-ends.ts'
import { ArchiveRefusal } from './refusal.ts'

const blockBytes = 512
/** Attributes of a file: a path, and whatever else some programs write. */
const maxAttributeBytes = 64 * 1024

/** A regular file in an archive. `body` must be read to its end before the next entry. */
export type TarEntry = { readonly name: string; readonly size: number; readonly body: AsyncIterable<Buffer> }

/** A source of bytes that can be read in exact amounts. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  /** At most `most` bytes; undefined at the end. */
  async some(most: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next()
      if (done) return undefined
      this.#rest = value
    }
    const part = this.#rest.subarray(0, most)
    this.#rest = this.#rest.subarray(part.length)
    return part
  }

  async exactly(length: number): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    for (let missing = length; missing > 0; ) {
      const part = await this.some(missing)
      if (!part) {
        if (parts.length === 0) return undefined
        throw new ArchiveRefusal('The archive ends within an entry')
      }
      parts.push(part)
      missing -= part.length
    }
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }
}

/**
 * The regular files of a tar archive of anyone's making, in its order. Folders are passed over. Links, devices, sparse files and all
 * other kinds are refused, as are names that are no path below the archive. Constant memory.
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const bytes = new Bytes(source)
  let longName: Buffer | undefined
  let longSize: number | undefined
  for (;;) {
    const header = await bytes.exactly(blockBytes)
    if (!header) throw new ArchiveRefusal('The archive ends before its end mark')
    if (header.every((byte) => byte === 0)) return requireEnd(bytes)
    requireChecksum(header)
    const type = String.fromCharCode(header[156]!)
    const size = longSize ?? sizeIn(header)
    if (type === 'x' || type === 'g' || type === 'L') {
      if (size > maxAttributeBytes) throw new ArchiveRefusal('The attributes of an entry are too large')
      const attributes = (await bytes.exactly(size)) ?? Buffer.alloc(0)
      if (attributes.length !== size) throw new ArchiveRefusal('The archive ends within an entry')
      await pass(bytes, padding(size))
      if (type === 'L') longName = untilNul(attributes)
      else if (type === 'x') ({ path: longName, size: longSize } = paxAttributes(attributes))
      continue
    }
    const name = safeName(longName ?? nameIn(header))
    longName = undefined
    longSize = undefined
    if (type === '5') {
      await pass(bytes, size + padding(size))
      continue
    }
    if (type !== '0' && type !== '\0' && type !== '7')
      throw new ArchiveRefusal(`${shown(name)} is ${kinds[type] ?? 'not a regular file'}`)
    let left = size
    const body = (async function* () {
      while (left > 0) {
        const part = await bytes.some(left)
        if (!part) throw new ArchiveRefusal('The archive ends within an entry')
        left -= part.length
        yield part
      }
    })()
    yield { name, size, body }
    await pass(bytes, left + padding(size))
  }
}

/** Some programs fill the last block with zeros. Reading to the end also checks the sum of the compression. */
async function requireEnd(bytes: Bytes): Promise<void> {
  for (let part = await bytes.some(65_536); part; part = await bytes.some(65_536))
    if (part.some((byte) => byte !== 0)) throw new ArchiveRefusal('There is something behind the end of the archive')
}

const kinds: Readonly<Record<string, string>> = {
  1: 'a hard link',
  2: 'a symbolic link',
  3: 'a device',
  4: 'a device',
  6: 'a named pipe',
  K: 'a link with a long name',
  S: 'a sparse file',
}

const padding = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes

async function pass(bytes: Bytes, count: number): Promise<void> {
  for (let left = count; left > 0; ) {
    const part = await bytes.some(left)
    if (!part) throw new ArchiveRefusal('The archive ends within an entry')
    left -= part.length
  }
}

function requireChecksum(header: Buffer): void {
  let sum = 0
  for (let at = 0; at < blockBytes; at++) sum += at >= 148 && at < 156 ? 32 : header[at]!
  if (octal(header.subarray(148, 156)) !== sum) throw new ArchiveRefusal('It is not a tar archive, or damaged')
}

function octal(field: Buffer): number {
  const digits = /^ *([0-7]+)[ \0]*/.exec(field.toString('latin1'))?.[1]
  return digits === undefined ? Number.NaN : Number.parseInt(digits, 8)
}

function sizeIn(header: Buffer): number {
  const field = header.subarray(124, 136)
  // Sizes from 8 GiB are numbers of base 256.
  const size = field[0]! === 0x80 ? Number(field.readBigUInt64BE(4)) : octal(field)
  if (!Number.isSafeInteger(size) || size < 0) throw new ArchiveRefusal('The size of an entry is not valid')
  return size
}

const untilNul = (field: Buffer): Buffer => {
  const end = field.indexOf(0)
  return end < 0 ? field : field.subarray(0, end)
}

function nameIn(header: Buffer): Buffer {
  const name = untilNul(header.subarray(0, 100))
  const isUstar = header.toString('latin1', 257, 263) === 'ustar\0'
  const prefix = isUstar ? untilNul(header.subarray(345, 500)) : Buffer.alloc(0)
  return prefix.length > 0 ? Buffer.concat([prefix, Buffer.from('/'), name]) : name
}

/** Lines of `<length> <name>=<value>\n`. */
function paxAttributes(bytes: Buffer): { path: Buffer | undefined; size: number | undefined } {
  let path: Buffer | undefined
  let size: number | undefined
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at)
    const length = space < 0 ? Number.NaN : Number(bytes.toString('latin1', at, space))
    if (!Number.isSafeInteger(length) || length <= 0 || at + length > bytes.length || space - at > 10)
      throw new ArchiveRefusal('The attributes of an entry are not valid')
    const equals = bytes.indexOf(61, space)
    if (equals < 0 || equals >= at + length) throw new ArchiveRefusal('The attributes of an entry are not valid')
    const name = bytes.toString('utf8', space + 1, equals)
    const value = bytes.subarray(equals + 1, at + length - 1)
    if (name === 'path') path = value
    if (name.startsWith('GNU.sparse')) throw new ArchiveRefusal('The archive has a sparse file')
    if (name === 'size') {
      size = Number(value.toString('latin1'))
      if (!Number.isSafeInteger(size) || size < 0) throw new ArchiveRefusal('The size of an entry is not valid')
    }
    at += length
  }
  return { path, size }
}

/** For messages. */
export const shown = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The path of an entry, without the leading `./` that some programs write. */
function safeName(bytes: Buffer): string {
  let name: string
  try {
    name = decoder.decode(bytes)
  } catch {
    throw new ArchiveRefusal('The name of an entry is not UTF-8')
  }
  if (name.startsWith('/')) throw new ArchiveRefusal(`${shown(name)} is an absolute path`)
  const path = withoutTrailing(name.replace(/^(\.\/)+/, ''), '/')
  if (path === '' || path === '.') return '.'
  if (/[\x00-\x1f\x7f\\]/.test(path)) throw new ArchiveRefusal(`${shown(name)} has characters that no name may have`)
  if (path.length > 1000) throw new ArchiveRefusal('The name of an entry is too long')
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..'))
    throw new ArchiveRefusal(`${shown(name)} is not a path below the archive`)
  return path
}
