import { type Fields, isFields } from './jobs.ts'
import type { Budget } from './merge.ts'
import { Reference } from './yaml.ts'

const maxNesting = 10

/**
 * The configuration with every `!reference` replaced by a copy of the value that it names. One without a value becomes null;
 * that is an error only if the configuration is `complete`.
 */
export function resolveReferences(
  config: Fields,
  complete: boolean,
  budget: Budget,
): { config: Fields; errors: string[] } {
  const errors = new Set<string>()
  /** Values outside references, so that aliases of one value stay one value. */
  const done = new Map<object, unknown>()

  const resolved = (value: unknown, chain: readonly string[]): unknown => {
    if (chain.length > 0) budget.spend(1)
    if (value instanceof Reference) return target(value, chain)
    if (typeof value !== 'object' || value === null) return value
    if (chain.length === 0 && done.has(value)) return done.get(value)
    const copy = Array.isArray(value)
      ? value.map((each) => resolved(each, chain))
      : isFields(value)
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolved(each, chain)]))
        : value
    if (chain.length === 0) done.set(value, copy)
    return copy
  }

  const target = ({ path }: Reference, chain: readonly string[]): unknown => {
    const name = JSON.stringify(path)
    const refuse = (why: string) => {
      errors.add(`!reference ${name} ${why}`)
      return null
    }
    if (chain.includes(name)) return refuse('is part of a circular chain')
    if (chain.length >= maxNesting) return refuse(`is nested more than ${maxNesting} levels deep`)
    let found: unknown = config
    for (const key of path) found = isFields(found) && Object.hasOwn(found, key) ? found[key] : undefined
    if (path.length > 0 && found !== undefined) return resolved(found, [...chain, name])
    return complete ? refuse('could not be found') : null
  }

  const whole = resolved(config, []) as Fields
  return { config: whole, errors: [...errors] }
}
