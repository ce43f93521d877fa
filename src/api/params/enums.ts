import type { RawValue } from './raw.ts'
import type { Reader } from './reader.ts'
import { integerReader, readBoolean, readText } from './scalars.ts'
import { hasNoValidValue, isInvalid } from './violation.ts'

const anyInteger = integerReader({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })

/** One value of a fixed set. A value of another type is `invalid`; otherwise an unknown one has "no valid value". */
export function enumReader(values: readonly unknown[], ignoreCase = false): Reader {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text)
  const byText = new Map(values.map((value) => [fold(String(value)), value]))
  const of = (type: string): boolean => values.every((value) => typeof value === type)
  const allowed = new Set(values)
  if (of('number')) return (raw) => pick(anyInteger(raw), allowed)
  if (of('boolean')) return (raw) => pick(readBoolean(raw), allowed)
  return (raw: RawValue) => {
    const text = readText(raw)
    if (typeof text !== 'string') return isInvalid
    const value = byText.get(fold(text))
    return value === undefined ? hasNoValidValue : value
  }
}

const pick = (value: unknown, allowed: ReadonlySet<unknown>): unknown =>
  typeof value === 'object' ? isInvalid : allowed.has(value) ? value : hasNoValidValue
