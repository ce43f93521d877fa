import { isUtf8 } from 'node:buffer'

/**
 * Git's paths are bytes; ours are strings. Bytes that are no UTF-8 become lone surrogates (0xff → U+DCFF, as in Python's
 * `surrogateescape`), which no valid text holds, so every path survives the way there and back.
 */
export function pathFromBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes[at]!)
    const sequence = bytes.subarray(at, at + length)
    if (length > 0 && sequence.length === length && isUtf8(sequence)) {
      text += sequence.toString('utf8')
      at += length
    } else {
      text += String.fromCharCode(0xdc00 + bytes[at]!)
      at++
    }
  }
  return text
}

/** The bytes that `pathFromBytes` made `path` of. */
export function pathToBytes(path: string): Buffer {
  if (path.isWellFormed()) return Buffer.from(path, 'utf8')
  return Buffer.concat(
    Array.from(path, (character) => {
      const code = character.charCodeAt(0)
      return character.length === 1 && code >= 0xdc80 && code <= 0xdcff
        ? Buffer.from([code - 0xdc00])
        : Buffer.from(character, 'utf8')
    }),
  )
}

const sequenceLength = (lead: number) => (lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0)

/**
 * Whether `path` can name an entry of a tree: relative, `/` between the parts, no empty, `.` or `..` part, no NUL.
 * The root itself (`''`) is no entry.
 */
export const isTreePath = (path: string): boolean =>
  path !== '' && !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
