import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../../test/growth.ts'
import { matchesPattern } from './pattern.ts'

describe('patterns of protected refs', () => {
  test.for([
    ['main', 'main', true, 'a name matches itself'],
    ['main', 'Main', false, 'case-sensitive'],
    ['main', 'main2', false, 'not a longer name'],
    ['main', 'x/main', false, 'not a name that only ends the same'],
    ['*', 'main', true, 'a star matches everything'],
    ['*', 'a/b/c', true, 'a star matches slashes'],
    ['*-stable', '1-2-stable', true, 'a star at the beginning'],
    ['*-stable', '-stable', true, 'a star may match nothing'],
    ['*-stable', '1-2-stable2', false, 'the end must match'],
    ['release/*', 'release/1.0', true, 'a star at the end'],
    ['release/*', 'release/', true, 'a star at the end may match nothing'],
    ['release/*', 'release/1/2', true, 'a star matches folders'],
    ['release/*', 'releases/1', false, 'the beginning must match'],
    ['release/*', 'release', false, 'the whole beginning must match'],
    ['*gitlab*', 'gitlab', true, 'stars around a part'],
    ['*gitlab*', 'gitlab/staging', true, 'stars around a part at the beginning'],
    ['*gitlab*', 'master/gitlab/production', true, 'stars around a part in the middle'],
    ['*gitlab*', 'git-lab', false, 'stars require the part'],
    ['a*b*c', 'abc', true, 'several stars'],
    ['a*b*c', 'a1b2b3c', true, 'several stars with text'],
    ['a*b*c', 'acb', false, 'parts must be in order'],
    ['a*a', 'a', false, 'no letter matches twice'],
    ['ab*ba', 'aba', false, 'parts do not overlap'],
    ['a*bb*b', 'abbb', true, 'the middle may be directly before the end'],
    ['a*bb*bb', 'abbb', false, 'the middle cannot overlap the end'],
    ['**', 'x', true, 'two stars are equal to one'],
    ['a.c', 'abc', false, 'a dot is literal'],
    ['a+', 'aa', false, 'a plus is literal'],
    ['v?', 'v1', false, 'a question mark is literal'],
    ['[ab]', 'a', false, 'brackets are literal'],
    ['*.*', 'v1.0', true, 'a dot between stars'],
    ['*.*', 'v1', false, 'the dot is required'],
    ['', 'x', false, 'an empty pattern matches nothing'],
  ] as const)('the pattern %s and the name %s match: %s (%s)', ([pattern, name, expected]) => {
    expect(matchesPattern(pattern, name)).toBe(expected)
  })

  test('patterns are matched in linear time, with any number of stars', () => {
    expect(matchesPattern(`${'a*'.repeat(500)}b*`, 'a'.repeat(100_000))).toBe(false)
    expectLinear((size) => matchesPattern(`${'a*'.repeat(size / 2)}b*`, 'a'.repeat(size)), 100_000)
  })
})
