import { describe, expect, test } from 'vitest'
import { matchesPath, type PathPattern } from './path-pattern.ts'

describe('matching a path costs at most the product of the lengths', () => {
  let compared = 0
  const is = (wanted: string) => (character: string) => {
    compared++
    return character === wanted
  }
  const times = <const T extends readonly unknown[]>(count: number, ...items: T): T[number][] =>
    Array.from({ length: count }, () => items).flat()

  test.for([
    ['stars in one segment', [[...times(200, '*', is('a')), is('b')]], ['a'.repeat(1_000)]],
    ['stars for folders', [...times(50, '**', [is('a')]), [is('b')]], times(500, 'a')],
    ['stars of both kinds', [...times(50, '**', ['*', is('a'), '*', is('a')]), [is('b')]], times(200, 'aaaaa')],
  ] as const satisfies readonly (readonly [string, PathPattern, readonly string[]])[])(
    'the number of comparisons is bounded with %s',
    ([, pattern, path]) => {
      compared = 0
      expect(matchesPath(pattern, path)).toBe(false)
      expect(compared).toBeGreaterThan(0)
      expect(compared).toBeLessThanOrEqual(pattern.flat().length * path.join('').length)
    },
  )
})
