import { isRawHash, type RawValue } from './raw.ts'
import type { Reader } from './reader.ts'
import { readText } from './scalars.ts'
import { hasNoValidValue, isInvalid, Violation } from './violation.ts'

/** Maximum depth of an undeclared value, and maximum values in it, including itself. */
const maximumDepth = 16
const maximumValues = 100_000

/** Remaining number of values. */
type Budget = { left: number }

/** Accepts any JSON value, checks for text that the database cannot store, and copies it without `__proto__` keys. */
export const readAnything: Reader = (raw) => copy(raw, 0, { left: maximumValues })

function copy(raw: RawValue, depth: number, budget: Budget): unknown | Violation {
  if (budget.left-- === 0) return isInvalid
  if (raw === null || typeof raw === 'boolean') return raw
  if (typeof raw === 'string') return readText(raw)
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : isInvalid
  if (depth === maximumDepth) return isInvalid
  if (Array.isArray(raw)) {
    const values: unknown[] = []
    for (const element of raw) {
      const value = copy(element, depth + 1, budget)
      if (value instanceof Violation) return value
      values.push(value)
    }
    return values
  }
  // Anything else is an uploaded file, which is not allowed here.
  return isRawHash(raw) ? copyHash(raw, (value) => copy(value, depth + 1, budget)) : isInvalid
}

/** A hash with arbitrary keys, at most `maximumKeys`; the result has no prototype. */
export function freeHashReader(readValue: Reader | undefined, maximumKeys = maximumValues): Reader {
  return (raw, reading, path) => {
    if (!isRawHash(raw)) return isInvalid
    if (Object.keys(raw).length > maximumKeys) return hasNoValidValue
    if (readValue === undefined) return copy(raw, 0, { left: maximumValues })
    return copyHash(raw, (value) => (value === null ? null : readValue(value, reading, path)))
  }
}

function copyHash(
  raw: { [name: string]: RawValue | undefined },
  readValue: (raw: RawValue) => unknown,
): unknown | Violation {
  const keys = Object.keys(raw)
  if (keys.length > maximumValues) return isInvalid
  const values: Record<string, unknown> = Object.create(null)
  for (const key of keys) {
    const element = raw[key]
    if (key === '__proto__' || element === undefined) continue
    if (readText(key) !== key) return isInvalid
    const value = readValue(element)
    if (value instanceof Violation) return value
    values[key] = value
  }
  return values
}
