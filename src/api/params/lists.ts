import { isRawHash, type RawValue } from './raw.ts'
import { isFull, type Reader } from './reader.ts'
import type { ParamSchema } from './schema.ts'
import { hasNoValidValue, isEmpty, isInvalid, isRefusedInPart, Violation } from './violation.ts'

/** Maximum elements of a list without `maxItems`: a commit may be large, but a body of commas must not take seconds. */
const maximumElements = 100_000

/**
 * Reads a list. Violations in hashes have the names of their fields (`actions[0][action]`), others the name of the list.
 * `emptyMeansNothing` drops empty elements (`ids[]=`, the only way to send an empty list in a form), as requests that read do.
 */
export function listReader(schema: ParamSchema, readElement: Reader, emptyMeansNothing: boolean): Reader {
  const { blank, split, single, atMostOne, maxItems = maximumElements } = schema
  return (raw, reading, path) => {
    if (Array.isArray(raw) && raw.length > maxItems) return hasNoValidValue
    const elements = toElements(raw, split, single, maxItems)
    if (elements === undefined) return isInvalid
    if (elements.length > maxItems) return hasNoValidValue
    const values: unknown[] = []
    const violationsBefore = reading.violations.length
    for (let index = 0; index < elements.length; index++) {
      const element = elements[index]!
      if (element === null || (element === '' && (emptyMeansNothing || reading.reads))) continue
      const value = readElement(element, reading, isRawHash(element) ? `${path}[${index}]` : path)
      if (isFull(reading)) break
      // Reports only the first invalid element; hashes have reported theirs already.
      if (value === isRefusedInPart) continue
      if (value instanceof Violation) return value
      values.push(value)
    }
    if (reading.violations.length > violationsBefore) return isRefusedInPart
    if (atMostOne === true && values.length > 1) return allowsOne(values)
    if (blank === false && values.length === 0) return isEmpty
    return values
  }
}

/** The only message that repeats the input; shortened, because that may have megabytes. */
const allowsOne = (values: readonly unknown[]): Violation =>
  new Violation(`allows one value, but found ${values.length}: ${values.slice(0, 10).join(', ').slice(0, 1000)}`)

function toElements(
  raw: RawValue,
  split: 'comma' | undefined,
  single: boolean | undefined,
  most: number,
): RawValue[] | undefined {
  if (split === 'comma') return splitCommas(raw, most)
  if (Array.isArray(raw)) return raw
  if (isRawHash(raw)) return indexed(raw) ?? (single === true ? [raw] : undefined)
  return single === true ? [raw] : undefined
}

/** Maximum words in one text: a megabyte of commas would be a list of a million. */
const maximumWords = 10_000

/** Not much more than `most` elements: those that follow are not split. */
function splitCommas(raw: RawValue, most: number): RawValue[] | undefined {
  if (Array.isArray(raw)) {
    const elements: RawValue[] = []
    for (const element of raw) {
      if (elements.length > most) break
      const words = typeof element === 'string' ? splitText(element) : [element]
      if (words === undefined) return undefined
      for (const word of words) elements.push(word)
    }
    return elements
  }
  if (typeof raw === 'string') return splitText(raw)
  if (isRawHash(raw)) {
    const elements = indexed(raw)
    return elements && splitCommas(elements, most)
  }
  return typeof raw === 'number' || typeof raw === 'boolean' ? [raw] : undefined
}

function splitText(text: string): string[] | undefined {
  const words = text.split(',', maximumWords + 1)
  if (words.length > maximumWords) return undefined
  return words.map((word) => word.trim()).filter((word) => word !== '')
}

/** `a[0]=x&a[1]=y` is a list written as a hash: its keys are 0 to n-1, in any order. */
function indexed(raw: { [name: string]: RawValue | undefined }): RawValue[] | undefined {
  const count = Object.keys(raw).length
  if (count === 0) return undefined
  const elements: RawValue[] = []
  for (let index = 0; index < count; index++) {
    const element = Object.hasOwn(raw, index) ? raw[index] : undefined
    if (element === undefined) return undefined
    elements.push(element)
  }
  return elements
}
