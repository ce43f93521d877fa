import { ParameterError } from '../../../api/params/parameter-error.ts'
import type { RawParams } from '../../../api/params/raw.ts'
import { emptyHash } from './brackets.ts'
import { decodeUtf8 } from './urlencoded.ts'

const notAsDeclared = 'message body does not match declared format'

/** A JSON object as a tree; nothing but blanks is a tree without parameters, any other value a `ParameterError`. */
export function parseJson(bytes: Uint8Array): RawParams {
  const text = decodeUtf8(bytes)
  if (text.trim() === '') return emptyHash()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ParameterError(notAsDeclared, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ParameterError(notAsDeclared)
  return value as RawParams
}
