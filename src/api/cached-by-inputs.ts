import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { keyOfInputs, type Plain } from './inputs.ts'

/** Longer keys are digests. */
const longestKey = 1000
/** Approximate memory of an entry besides what `sizeOf` says. */
const overheadBytes = 300

/**
 * A pure function that remembers its latest results, each under the key of its inputs. `make` must depend on its inputs alone; what the key
 * cannot contain does not compile as one. Results are frozen, so that they are named by their identity where they are inputs themselves:
 * a result is the same object as long as it is remembered, and its content never changes.
 */
export function cachedByInputs<Inputs extends Plain, Result extends object>(
  make: (inputs: Inputs) => Result,
  { maximumBytes, sizeOf }: { readonly maximumBytes: number; readonly sizeOf: (result: Result) => number },
): (inputs: Inputs) => Readonly<Result> {
  const cache = new LRUCache<string, Readonly<Result>>({
    maxSize: maximumBytes,
    sizeCalculation: (result, key) => overheadBytes + key.length + sizeOf(result as Result),
  })
  return (inputs) => {
    const written = keyOfInputs(inputs, Number.POSITIVE_INFINITY)
    if (written === undefined) return Object.freeze(make(inputs))
    const key = written.length > longestKey ? hash('sha256', written, 'base64') : written
    const known = cache.get(key)
    if (known) return known
    const made = Object.freeze(make(inputs))
    cache.set(key, made)
    return made
  }
}
