import { isUtf8 } from 'node:buffer'

/**
 * Decodes a path. Git paths are bytes: bytes that are not UTF-8 become lone surrogates (0xff → U+DCFF, as in Python's
 * `surrogateescape`), which valid text never contains, so every path survives the round trip.
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

/** The inverse of `pathFromBytes`. */
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
 * Whether `path` can name a tree entry: relative, separated by `/`, without empty, `.` or `..` segments and without NUL. False
 * for the root (`''`).
 */
export const isTreePath = (path: string): boolean =>
  path !== '' && !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
