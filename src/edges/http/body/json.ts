import { ParameterError } from '../../../api/params/parameter-error.ts'
import type { RawParams } from '../../../api/params/raw.ts'
import { emptyHash } from './brackets.ts'
import { maximumDepth, maximumValues } from './limits.ts'
import { decodeUtf8 } from './urlencoded.ts'

const notAsDeclared = 'message body does not match declared format'

/** Parses a JSON object; blank text and `null` are an empty object, any other value a `ParameterError`. */
export function parseJson(bytes: Uint8Array): RawParams {
  const text = decodeUtf8(bytes)
  if (text.trim() === '') return emptyHash()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ParameterError(notAsDeclared, { cause: error })
  }
  // Compat: the Go client library sends `null` if a call has no options.
  if (value === null) return emptyHash()
  if (typeof value !== 'object' || Array.isArray(value)) throw new ParameterError(notAsDeclared)
  return value as RawParams
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Counts the values and the depth of JSON as its bytes arrive, about a nanosecond per byte, so that a body that would take long
 * to parse is rejected before. Does not check the syntax.
 */
export class JsonShape {
  readonly #maximumValues: number
  #values = 1
  #depth = 0
  #inText = false
  #escaped = false

  constructor(limit: number = maximumValues) {
    this.#maximumValues = limit
  }

  /** Number of values so far. */
  get values(): number {
    return this.#values
  }

  /** Throws a `ParameterError` that names the exceeded limit. */
  push(bytes: Uint8Array): void {
    let [values, depth, inText, escaped] = [this.#values, this.#depth, this.#inText, this.#escaped]
    let deepest = depth
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (inText) {
        if (escaped) escaped = false
        else if (byte === quote) inText = false
        else if (byte === backslash) escaped = true
      } else if (byte === quote) inText = true
      else if (byte === comma) values++
      else if (byte === openObject || byte === openList) {
        values++
        if (++depth > deepest) deepest = depth
      } else if (byte === closeObject || byte === closeList) depth--
    }
    this.#values = values
    this.#depth = depth
    this.#inText = inText
    this.#escaped = escaped
    if (values > this.#maximumValues)
      throw new ParameterError(`too many values: at most ${this.#maximumValues} are read`)
    if (deepest > maximumDepth)
      throw new ParameterError(`parameters are nested too deeply: at most ${maximumDepth} levels are read`)
  }
}
