import { isUtf8 } from 'node:buffer'
import { charsetOf } from './charset.ts'
import { pathToBytes } from './path-bytes.ts'

/**
 * Decodes untrusted bytes as well-formed text without NUL. Text that is not UTF-8 is decoded in its likely charset; if none is
 * likely, invalid bytes are dropped.
 */
export function decodeText(bytes: Buffer): string {
  const text = isUtf8(bytes) ? bytes.toString('utf8') : withoutInvalid(bytes, charsetOf(bytes))
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}

/** A path for display; `path-bytes.ts` explains the lone surrogates of a path that is not UTF-8. */
export const shownPath = (path: string): string => (path.isWellFormed() ? path : decodeText(pathToBytes(path)))

const withoutInvalid = (bytes: Buffer, charset = 'utf-8'): string =>
  new TextDecoder(charset, { ignoreBOM: true }).decode(bytes).replaceAll('\ufffd', '')
