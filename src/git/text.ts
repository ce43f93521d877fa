import { isUtf8 } from 'node:buffer'
import { pathToBytes } from './path-bytes.ts'

/**
 * Bytes of whoever wrote them as well-formed text without NUL. What is no UTF-8 is read as Windows-1252 if it looks like
 * a text of a Latin script, and otherwise loses the bytes that are not UTF-8.
 */
export function decodeText(bytes: Buffer): string {
  const text = isUtf8(bytes) ? bytes.toString('utf8') : looksLatin(bytes) ? latin.decode(bytes) : withoutInvalid(bytes)
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}

/** A path as it is shown: see `path-bytes.ts` for what the lone surrogates of an odd one are. */
export const shownPath = (path: string): string => (path.isWellFormed() ? path : decodeText(pathToBytes(path)))

const latin = new TextDecoder('windows-1252')

/** Mostly ASCII, no control characters, and no long runs of the upper half, as other scripts have them. */
function looksLatin(bytes: Buffer): boolean {
  let high = 0
  let run = 0
  for (const byte of bytes) {
    if (byte < 0x80) {
      if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false
      run = 0
      continue
    }
    high++
    if (++run > 3) return false
  }
  return high * 10 <= bytes.length * 4
}

const withoutInvalid = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('\ufffd', '')
