import { type Fields, globalKeywords, isFields } from './jobs.ts'

const maxDepth = 11
/** Maximum values that merging may copy. */
const maxCopies = 50_000

/** Merges hashes deeply; other values are replaced, as everywhere in these files. */
export function mergeFields(under: Fields, over: Fields, budget: Budget): Fields {
  const merged: Record<string, unknown> = { ...under }
  budget.spend(Object.keys(under).length + Object.keys(over).length)
  for (const [name, value] of Object.entries(over)) {
    const below = Object.hasOwn(merged, name) ? merged[name] : undefined
    const both = isFields(below) && isFields(value) ? mergeFields(below, value, budget) : value
    Object.defineProperty(merged, name, { value: both, enumerable: true, writable: true, configurable: true })
  }
  return merged
}

export class TooMuch extends Error {}

export class Budget {
  #left = maxCopies

  spend(count: number): void {
    this.#left -= count
    if (this.#left < 0) throw new TooMuch('the configuration is too complex')
  }
}

/** The configuration with every `extends` replaced by what it names, and the errors of those that cannot be. */
export function extendJobs(config: Fields, complete: boolean, budget: Budget): { config: Fields; errors: string[] } {
  const errors = new Set<string>()
  const done = new Map<string, Fields>()
  const extended = (name: string, job: Fields, trail: readonly string[]): Fields => {
    const known = done.get(name)
    if (known) return known
    if (!('extends' in job)) return job
    const { extends: names, ...own } = job
    let base: Fields = {}
    for (const parent of Array.isArray(names) ? names : [names]) {
      const found = typeof parent === 'string' && Object.hasOwn(config, parent) ? config[parent] : undefined
      if (trail.includes(String(parent)) || parent === name)
        errors.add(`${name}: circular dependency detected in \`extends\``)
      else if (trail.length >= maxDepth) errors.add(`${name}: nesting too deep in \`extends\``)
      else if (isFields(found)) base = mergeFields(base, extended(String(parent), found, [...trail, name]), budget)
      else if (complete) errors.add(`${name}: unknown keys in \`extends\` (${String(parent)})`)
    }
    const merged = mergeFields(base, own, budget)
    done.set(name, merged)
    return merged
  }
  const merged = Object.entries(config).map(([name, job]) =>
    isFields(job) && !globalKeywords.has(name) ? [name, extended(name, job, [])] : [name, job],
  )
  return { config: Object.fromEntries(merged), errors: [...errors] }
}
