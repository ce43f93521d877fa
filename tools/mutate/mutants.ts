import { readFileSync } from 'node:fs'
import { codeEdits } from './code-edits.ts'
import type { Target } from './targets.ts'

/** A change of one source file that a test should notice. */
export type Mutant = {
  /** Identifies it: file, declaration, change, and a number if a declaration has several that look the same. */
  readonly name: string
  readonly target: Target
  readonly line: number
  /** The changed source. */
  readonly text: string
}

/** Every mutant of a target, in the order of the source. */
export function mutantsOf(root: string, target: Target): Mutant[] {
  const source = readFileSync(`${root}/${target.file}`, 'utf8')
  const counts = new Map<string, number>()
  return codeEdits(target.file, source)
    .filter(({ place }) => !target.only || target.only.includes(place.split('.', 1)[0]!))
    .map(({ start, end, text, what, place }) => {
      const name = `${target.file} ${place}: ${what}`
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return {
        name: count === 1 ? name : `${name} (${count})`,
        target,
        line: source.slice(0, start).split('\n').length,
        text: source.slice(0, start) + text + source.slice(end),
      }
    })
}

/** A random sample, the same for the same seed. */
export function sampleOf<T>(all: readonly T[], count: number, seed: number): T[] {
  const rest = [...all]
  let state = seed >>> 0
  // Mulberry32, a small generator that is good enough for this.
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  for (let index = rest.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    ;[rest[index], rest[other]] = [rest[other]!, rest[index]!]
  }
  return rest.slice(0, count)
}
