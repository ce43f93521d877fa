import { Complaint, hasNoValidValue, isInvalid } from './complaint.ts'
import { isRawHash, type RawValue } from './raw.ts'
import type { Reader } from './reader.ts'
import { readText } from './scalars.ts'

/** Levels of a value whose shape is not declared, and values in it, itself included. */
const maximumDepth = 16
const maximumValues = 100_000

/** Values that may still come. */
type Budget = { left: number }

/** Any JSON value, checked for text the database cannot hold and copied without `__proto__` keys. */
export const readAnything: Reader = (raw) => copy(raw, 0, { left: maximumValues })

function copy(raw: RawValue, depth: number, budget: Budget): unknown | Complaint {
  if (budget.left-- === 0) return isInvalid
  if (raw === null || typeof raw === 'boolean') return raw
  if (typeof raw === 'string') return readText(raw)
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : isInvalid
  if (depth === maximumDepth) return isInvalid
  if (Array.isArray(raw)) {
    const values: unknown[] = []
    for (const element of raw) {
      const value = copy(element, depth + 1, budget)
      if (value instanceof Complaint) return value
      values.push(value)
    }
    return values
  }
  // What is neither is an uploaded file, which has no place among values.
  return isRawHash(raw) ? copyHash(raw, (value) => copy(value, depth + 1, budget)) : isInvalid
}

/** A hash whose keys the caller chooses, at most `maximumKeys`; it has no prototype. */
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
): unknown | Complaint {
  const keys = Object.keys(raw)
  if (keys.length > maximumValues) return isInvalid
  const values: Record<string, unknown> = Object.create(null)
  for (const key of keys) {
    const element = raw[key]
    if (key === '__proto__' || element === undefined) continue
    if (readText(key) !== key) return isInvalid
    const value = readValue(element)
    if (value instanceof Complaint) return value
    values[key] = value
  }
  return values
}
