import { Complaint, hasNoValidValue, isEmpty, isInvalid, isRefusedInPart } from './complaint.ts'
import { isRawHash, type RawValue } from './raw.ts'
import { isFull, type Reader } from './reader.ts'
import type { ParamSchema } from './schema.ts'

/** Elements of a list that declares no `maxItems`: a commit may be large, a body of commas must not take seconds. */
const maximumElements = 100_000

/**
 * A list. Elements that are hashes complain under their own names (`actions[0][action]`), others under the name
 * of the list. `emptyMeansNothing`: a blank element (`ids[]=`, the one way a form has to send an empty list) is dropped.
 */
export function listReader(schema: ParamSchema, readElement: Reader, emptyMeansNothing: boolean): Reader {
  const { blank, split, single, atMostOne, minItems, maxItems = maximumElements } = schema
  return (raw, reading, path) => {
    if (Array.isArray(raw) && raw.length > maxItems) return hasNoValidValue
    const elements = toElements(raw, split, single)
    if (elements === undefined) return isInvalid
    if (elements.length > maxItems) return hasNoValidValue
    const values: unknown[] = []
    const complaintsBefore = reading.complaints.length
    for (let index = 0; index < elements.length; index++) {
      const element = elements[index]!
      if (element === null || (element === '' && emptyMeansNothing)) continue
      const value = readElement(element, reading, isRawHash(element) ? `${path}[${index}]` : path)
      if (isFull(reading)) break
      // The first refused element speaks for the list; hashes have complained one by one.
      if (value === isRefusedInPart) continue
      if (value instanceof Complaint) return value
      values.push(value)
    }
    if (reading.complaints.length > complaintsBefore) return isRefusedInPart
    if (atMostOne === true && values.length > 1) return allowsOne(values)
    if (blank === false && values.length === 0) return isEmpty
    return minItems !== undefined && values.length < minItems ? hasNoValidValue : values
  }
}

/** The one complaint that repeats what was sent; cut, because that may be megabytes. */
const allowsOne = (values: readonly unknown[]): Complaint =>
  new Complaint(`allows one value, but found ${values.length}: ${values.slice(0, 10).join(', ').slice(0, 1000)}`)

function toElements(raw: RawValue, split: 'comma' | undefined, single: boolean | undefined): RawValue[] | undefined {
  if (split === 'comma') return splitCommas(raw)
  if (Array.isArray(raw)) return raw
  if (isRawHash(raw)) return indexed(raw) ?? (single === true ? [raw] : undefined)
  return single === true ? [raw] : undefined
}

/** Words one text may be split into: a megabyte of commas would be a list of a million. */
const maximumWords = 10_000

function splitCommas(raw: RawValue): RawValue[] | undefined {
  if (Array.isArray(raw)) {
    const lists = raw.map((element) => (typeof element === 'string' ? splitText(element) : [element]))
    return lists.includes(undefined) ? undefined : (lists as RawValue[][]).flat()
  }
  if (typeof raw === 'string') return splitText(raw)
  if (isRawHash(raw)) {
    const elements = indexed(raw)
    return elements && splitCommas(elements)
  }
  return typeof raw === 'number' || typeof raw === 'boolean' ? [raw] : undefined
}

function splitText(text: string): string[] | undefined {
  const words = text.split(',', maximumWords + 1)
  if (words.length > maximumWords) return undefined
  return words.map((word) => word.trim()).filter((word) => word !== '')
}

/** `a[0]=x&a[1]=y` is a list spelled as a hash: its keys are 0 to n-1, in any order. */
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
