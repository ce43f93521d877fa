import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PathRules } from './path-rules.ts'
import { pathGlob } from './testing.ts'

const name = fc.constantFrom('a', 'b', 'a.x', 'b.x', 'a.y', '.x', 'x', '.', 'a.')
const part = fc.oneof(
  name,
  fc.constantFrom('*', '**', '*.x', '*x', 'a*', '*.', '?', '[ab].x', '*.[xy]', '\\a.x', '*\\.x', '[a'),
)
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))

describe('rules for paths', () => {
  test('the last rule that matches counts, for random patterns and paths', () => {
    let matched = 0
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 3, maxLength: 20 }),
        fc.array(path, { minLength: 10, maxLength: 20 }),
        (patterns, paths) => {
          const rules = new PathRules(patterns.map((each, value) => ({ pattern: each, value })))
          for (const each of paths) {
            const expected = patterns.findLastIndex((one) => pathGlob(one)(each))
            if (expected >= 0) matched++
            expect([patterns, each, rules.last(each) ?? -1]).toEqual([patterns, each, expected])
          }
        },
      ),
      { numRuns: 1000 },
    )
    expect(matched).toBeGreaterThan(1_000)
  })

  test('rules that are not wanted are skipped', () => {
    const rules = new PathRules([
      { pattern: '*.x', value: 1 },
      { pattern: 'a.x', value: 2 },
    ])
    expect([rules.last('a.x'), rules.last('a.x', (value) => value < 2)]).toEqual([2, 1])
  })

  test('a path is compared with few of thousands of rules that name files, folders and extensions', () => {
    const patterns = Array.from({ length: 3_000 }, (_, n) => [`src/f${n}.ts`, `**/d${n}/**`, `**/*.e${n}`]).flat()
    const rules = new PathRules(patterns.map((each) => ({ pattern: each, value: each })))
    for (let n = 0; n < 1_000; n++) expect(rules.last(`src/f${n}.ts`)).toBe(`src/f${n}.ts`)
    expect(rules.last('a/d7/b.e8')).toBe('**/*.e8')
    expect(rules.comparisons).toBeLessThan(1_010)
  })
})
