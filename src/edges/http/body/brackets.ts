import { ParameterError } from '../../../api/params/parameter-error.ts'
import { isRawHash, type RawParams, type RawValue } from '../../../api/params/raw.ts'

/** Maximum depth: `a[b][c][][d][e]`. No declared parameter needs more than three. */
const maximumDepth = 5

export const emptyHash = (): RawParams => Object.create(null)

/**
 * Adds one form field to the tree, parsing the brackets of its name: `a[]` appends, `a[b]` sets a key, and in `a[][b]` a
 * repeated key starts the next hash. A name without brackets, or with unbalanced ones, is literal and replaces the earlier
 * value; a bracketed name that contradicts an earlier field throws a `ParameterError`.
 */
export function addField(tree: RawParams, name: string, value: RawValue): void {
  const open = name.indexOf('[')
  const steps = open > 0 ? readSteps(name, open) : undefined
  if (steps === undefined) {
    // Harmless in an object without a prototype, but dropped for the code that reads it later.
    if (name !== '' && name !== '__proto__') tree[name] = value
    return
  }
  if (steps.length > maximumDepth) throw new ParameterError('parameters are nested too deeply')
  if (steps.includes('__proto__')) return
  const top = name.slice(0, open)
  if (top === '__proto__') return
  place(tree, top, steps, 0, value, top)
}

/** The texts between the brackets: `a[][b]` has `['', 'b']`. Undefined if they are unbalanced. */
function readSteps(name: string, start: number): string[] | undefined {
  const steps: string[] = []
  let open = start
  while (open < name.length) {
    const close = name.indexOf(']', open)
    if (name.charCodeAt(open) !== 91 /* [ */ || close === -1) return undefined
    steps.push(name.slice(open + 1, close))
    if (steps.length > maximumDepth) return steps
    open = close + 1
  }
  return steps
}

function place(into: RawParams, key: string, steps: string[], next: number, value: RawValue, top: string): void {
  if (next === steps.length) {
    into[key] = value
    return
  }
  const step = steps[next]!
  if (step !== '') {
    into[key] ??= emptyHash()
    const hash = into[key]
    if (!isRawHash(hash)) throw new ParameterError(`${top} is invalid`)
    place(hash, step, steps, next + 1, value, top)
    return
  }
  into[key] ??= []
  const list = into[key]
  const below = steps[next + 1]
  if (!Array.isArray(list) || below === '') throw new ParameterError(`${top} is invalid`)
  if (below === undefined) list.push(value)
  else place(hashToFill(list, steps, next + 1), below, steps, next + 2, value, top)
}

/** The last hash of the list; a new one if there is none or it already has the key. */
function hashToFill(list: RawValue[], steps: string[], next: number): RawParams {
  const last = list.at(-1)
  if (isRawHash(last) && !has(last, steps, next)) return last
  const hash = emptyHash()
  list.push(hash)
  return hash
}

/**
 * Whether the hash already has this key, so that the field belongs to the next hash. False for a list, which can always grow.
 */
function has(hash: RawParams, steps: string[], from: number): boolean {
  let value: RawValue | undefined = hash
  for (let index = from; index < steps.length; index++) {
    if (steps[index] === '') return false
    if (!isRawHash(value)) return false
    value = value[steps[index]!]
    if (value === undefined) return false
  }
  return true
}
