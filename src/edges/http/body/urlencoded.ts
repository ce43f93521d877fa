import { isUtf8 } from 'node:buffer'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import type { RawParams } from '../../../api/params/raw.ts'
import { addField, emptyHash } from './brackets.ts'
import { maximumFields } from './limits.ts'

export const tooManyFields = (limit: number): ParameterError =>
  new ParameterError(`too many parameters: at most ${limit} are read`)

/**
 * Parses a query string (without `?`) or a form body into a tree. A field without `=` is null. Raw bytes above 127 are expected
 * as Node passes them, one character each, and must be UTF-8, like percent-encoded ones.
 */
export function parseUrlencoded(text: string, limit: number = maximumFields): RawParams {
  const tree = emptyHash()
  const source = toText(text)
  let fields = 0
  let start = 0
  while (start < source.length) {
    let end = source.indexOf('&', start)
    if (end === -1) end = source.length
    if (end > start) {
      if (++fields > limit) throw tooManyFields(limit)
      const field = source.slice(start, end)
      const equals = field.indexOf('=')
      if (equals === -1) addField(tree, decode(field), null)
      else if (equals > 0) addField(tree, decode(field.slice(0, equals)), decode(field.slice(equals + 1)))
    }
    start = end + 1
  }
  return tree
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch (error) {
    throw new ParameterError('parameters are not percent-encoded UTF-8', { cause: error })
  }
}

const beyondAscii = /[^\x00-\x7f]/
const beyondBytes = /[^\x00-\xff]/

/** Compat: curl sends text as typed, so bytes that should be percent-encoded are common. */
function toText(source: string): string {
  if (!beyondAscii.test(source) || beyondBytes.test(source)) return source
  return decodeUtf8(Buffer.from(source, 'latin1'))
}

/** Decodes UTF-8 strictly; drops a leading byte order mark. */
export function decodeUtf8(bytes: Uint8Array): string {
  // Several times as fast as a fatal TextDecoder.
  if (!isUtf8(bytes)) throw new ParameterError('parameters are not valid UTF-8')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}

const byteOrderMark = '\uFEFF'
