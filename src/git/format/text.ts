import { isUtf8 } from 'node:buffer'
import { charsetOf } from './charset.ts'
import { pathToBytes } from './path-bytes.ts'

/**
 * Bytes of whoever wrote them as well-formed text without NUL. What is no UTF-8 is read in the charset in which it is likely
 * written, and loses the bytes that are not UTF-8 when none is likely.
 */
export function decodeText(bytes: Buffer): string {
  const text = isUtf8(bytes) ? bytes.toString('utf8') : withoutInvalid(bytes, charsetOf(bytes))
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}

/** A path as it is shown: see `path-bytes.ts` for what the lone surrogates of an odd one are. */
export const shownPath = (path: string): string => (path.isWellFormed() ? path : decodeText(pathToBytes(path)))

const withoutInvalid = (bytes: Buffer, charset = 'utf-8'): string =>
  new TextDecoder(charset, { ignoreBOM: true }).decode(bytes).replaceAll('\ufffd', '')
