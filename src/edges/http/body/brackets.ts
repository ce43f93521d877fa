import { ParameterError } from '../../../api/params/parameter-error.ts'
import { isRawHash, type RawParams, type RawValue } from '../../../api/params/raw.ts'

/** `a[b][c][][d][e]` is as deep as it goes: no declared parameter needs more than three. */
const maximumDepth = 5

export const emptyHash = (): RawParams => Object.create(null)

/**
 * Adds one form field to the tree, reading the brackets of its name: `a[]` appends, `a[b]` sets a key, and in
 * `a[][b]` a repeated key starts the next hash. A name without brackets, or with unbalanced ones, is plain and
 * replaces what was there; a bracketed one that contradicts an earlier field is a `ParameterError`.
 */
export function addField(tree: RawParams, name: string, value: RawValue): void {
  const open = name.indexOf('[')
  const steps = open > 0 ? readSteps(name, open) : undefined
  if (steps === undefined) {
    // Without a prototype `__proto__` is a name like any other, but it need not reach anybody.
    if (name !== '' && name !== '__proto__') tree[name] = value
    return
  }
  if (steps.length > maximumDepth) throw new ParameterError('parameters are nested too deeply')
  if (steps.includes('__proto__')) return
  const top = name.slice(0, open)
  if (top === '__proto__') return
  place(tree, top, steps, 0, value, top)
}

/** The texts between the brackets: `a[][b]` has `['', 'b']`. Undefined when they do not close. */
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

/** The last hash of the list, or a new one when there is none or it has the key already. */
function hashToFill(list: RawValue[], steps: string[], next: number): RawParams {
  const last = list.at(-1)
  if (isRawHash(last) && !has(last, steps, next)) return last
  const hash = emptyHash()
  list.push(hash)
  return hash
}

/** Whether the hash already holds this key, so that one more must belong to the next hash. A list can always take more. */
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
