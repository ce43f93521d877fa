import { hash } from 'node:crypto'

/** What `keyOfInputs` can write out as a whole: values and plain objects, no functions, maps or instances of classes. */
export type Plain = string | number | boolean | null | undefined | readonly Plain[] | PlainObject
type PlainObject = { readonly [name: string]: Plain }

const numbers = new WeakMap<object, number>()
let last = 0

/** A number that no other object of this process has, or had. */
export function numberOf(object: object): number {
  const known = numbers.get(object)
  if (known !== undefined) return known
  numbers.set(object, ++last)
  return last
}

/** Names of inputs in quotes: there are few, which are written often. */
const quotedNames = new Map<string, string>()
const maximumNames = 1000

function quoted(name: string): string {
  const known = quotedNames.get(name)
  if (known !== undefined) return known
  const made = JSON.stringify(name)
  if (quotedNames.size < maximumNames) quotedNames.set(name, made)
  return made
}

/** Longer texts are written as digests. */
const longestText = 200
/** Inputs of records with longer keys, such as those with many rows that are not shared, have none. */
const longestKey = 4000

/**
 * Names the inputs of a record: the same for the same inputs only. A frozen object, such as a row that all readers share
 * (docs/adr/0015), is named by its identity, which costs nothing whatever its size; everything else is written out. Undefined if
 * nothing is frozen, as in a transaction: the same record is then not expected again; and if the key were longer than `longest`.
 */
export function keyOfInputs(inputs: Plain, longest = longestKey): string | undefined {
  let isShared = false
  const write = (value: Plain): string => {
    if (typeof value === 'string')
      return value.length > longestText ? `=${hash('sha256', value, 'base64')}` : JSON.stringify(value)
    if (typeof value !== 'object' || value === null) return String(value)
    if (Object.isFrozen(value)) {
      isShared = true
      return `#${numberOf(value)}`
    }
    let parts = ''
    if (Array.isArray(value)) {
      for (const each of value) parts += `${write(each)},`
      return `[${parts}]`
    }
    for (const name of Object.keys(value)) parts += `${quoted(name)}:${write((value as PlainObject)[name])},`
    return `{${parts}}`
  }
  const key = write(inputs)
  return isShared && key.length <= longest ? key : undefined
}
