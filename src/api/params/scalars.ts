import type { RawValue } from './raw.ts'
import { hasNoValidValue, isEmpty, isInvalid, Violation } from './violation.ts'

const booleans = new Map<string, boolean>()
for (const [words, value] of [
  ['true 1 on t y yes', true],
  ['false 0 off f n no', false],
] as const) {
  for (const word of words.split(' ')) booleans.set(word, value)
}

/** Accepts the words above in any case (python-gitlab sends `True` in queries), and 1 and 0 as numbers. */
export function readBoolean(raw: RawValue): boolean | Violation {
  if (typeof raw === 'boolean') return raw
  if (typeof raw === 'string') return booleans.get(raw.toLowerCase()) ?? isInvalid
  return raw === 1 ? true : raw === 0 ? false : isInvalid
}

/** With `onlyFalse`, true is rejected for that reason. */
export function booleanReader({
  onlyFalse,
}: {
  onlyFalse?: string | undefined
}): (raw: RawValue) => boolean | Violation {
  if (onlyFalse === undefined) return readBoolean
  const isRefused = new Violation(`must be false: ${onlyFalse}`)
  return (raw) => {
    const value = readBoolean(raw)
    return value === true ? isRefused : value
  }
}

const integer = /^[+-]?\d{1,16}$/
const decimal = /^[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})(e[+-]?\d{1,3})?$/i

export type Bounds = { minimum?: number | undefined; maximum?: number | undefined }

const databaseInteger = 2 ** 31 - 1

/**
 * Default bounds are those of the database's `integer`, so a number too large for its column gives a 400 instead of a 500.
 * Outside a declared bound, the message is different.
 */
export function integerReader({ minimum, maximum }: Bounds): (raw: RawValue) => number | Violation {
  const lowest = minimum ?? -databaseInteger - 1
  const highest = maximum ?? databaseInteger
  const tooLow = minimum === undefined ? isInvalid : hasNoValidValue
  const tooHigh = maximum === undefined ? isInvalid : hasNoValidValue
  return (raw) => {
    const value = typeof raw === 'number' ? raw : typeof raw === 'string' && integer.test(raw) ? Number(raw) : undefined
    if (value === undefined || !Number.isSafeInteger(value)) return isInvalid
    if (value < lowest) return tooLow
    // `+ 0` turns -0 into 0.
    return value > highest ? tooHigh : value + 0
  }
}

export function numberReader({ minimum, maximum }: Bounds): (raw: RawValue) => number | Violation {
  return (raw) => {
    const value = typeof raw === 'number' ? raw : typeof raw === 'string' && decimal.test(raw) ? Number(raw) : undefined
    if (value === undefined || !Number.isFinite(value)) return isInvalid
    if ((minimum !== undefined && value < minimum) || (maximum !== undefined && value > maximum)) return hasNoValidValue
    return value + 0
  }
}

/** Text; a number or boolean becomes its text. The database cannot store NUL and lone surrogates. */
export function readText(raw: RawValue): string | Violation {
  if (typeof raw === 'string') return raw.includes('\0') || !raw.isWellFormed() ? isInvalid : raw
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : isInvalid
}

export type TextRules = {
  /** `false` rejects empty and blank text. */
  blank?: boolean | undefined
  minLength?: number | undefined
  /** In UTF-16 units. */
  maxLength?: number | undefined
  pattern?: string | RegExp | undefined
  filePath?: boolean | undefined
}

const isNoFilePath = new Violation('should be a valid file path')
const climbs = /^\.$|(^|[/\\])\.\.([/\\]|$)|\n/

export function textReader(rules: TextRules): (raw: RawValue) => string | Violation {
  const { blank, minLength, maxLength, pattern, filePath } = rules
  if (Object.values({ blank, minLength, maxLength, pattern, filePath }).every((rule) => rule === undefined))
    return readText
  const refusesBlank = blank === false || (minLength !== undefined && minLength > 0)
  const shape = pattern === undefined ? undefined : new RegExp(pattern)
  return (raw) => {
    const text = readText(raw)
    if (typeof text !== 'string') return text
    if (refusesBlank && text.trim() === '') return isEmpty
    if (minLength !== undefined && text.length < minLength) return hasNoValidValue
    if (maxLength !== undefined && text.length > maxLength) return hasNoValidValue
    if (filePath === true && climbs.test(text)) return isNoFilePath
    return shape === undefined || shape.test(text) ? text : hasNoValidValue
  }
}
