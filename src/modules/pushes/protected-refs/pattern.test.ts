import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../../test/growth.ts'
import { matchesPattern } from './pattern.ts'

describe('patterns of protected refs', () => {
  test.for([
    ['main', 'main', true, 'a name covers itself'],
    ['main', 'Main', false, 'case counts'],
    ['main', 'main2', false, 'and nothing longer'],
    ['main', 'x/main', false, 'nor what only ends so'],
    ['*', 'main', true, 'a star covers everything'],
    ['*', 'a/b/c', true, 'with slashes, too'],
    ['*-stable', '1-2-stable', true, 'a star at the beginning'],
    ['*-stable', '-stable', true, 'may stand for nothing'],
    ['*-stable', '1-2-stable2', false, 'the end must fit'],
    ['release/*', 'release/1.0', true, 'a star at the end'],
    ['release/*', 'release/', true, 'may stand for nothing, too'],
    ['release/*', 'release/1/2', true, 'or for folders'],
    ['release/*', 'releases/1', false, 'the beginning must fit'],
    ['release/*', 'release', false, 'the whole of it'],
    ['*gitlab*', 'gitlab', true, 'stars around a part'],
    ['*gitlab*', 'gitlab/staging', true, 'before'],
    ['*gitlab*', 'master/gitlab/production', true, 'and behind'],
    ['*gitlab*', 'git-lab', false, 'need the part'],
    ['a*b*c', 'abc', true, 'several stars'],
    ['a*b*c', 'a1b2b3c', true, 'take what there is'],
    ['a*b*c', 'acb', false, 'in their order'],
    ['a*a', 'a', false, 'no letter counts twice'],
    ['ab*ba', 'aba', false, 'not even in part'],
    ['a*bb*b', 'abbb', true, 'the middle may stand right before the end'],
    ['a*bb*bb', 'abbb', false, 'but not in it'],
    ['**', 'x', true, 'two stars are one'],
    ['a.c', 'abc', false, 'a dot is a dot'],
    ['a+', 'aa', false, 'a plus is a plus'],
    ['v?', 'v1', false, 'a question mark is no wildcard'],
    ['[ab]', 'a', false, 'nor are brackets'],
    ['*.*', 'v1.0', true, 'a dot between stars'],
    ['*.*', 'v1', false, 'must be there'],
    ['', 'x', false, 'an empty one covers nothing'],
  ] as const)('%s and %s: %s, %s', ([pattern, name, expected]) => {
    expect(matchesPattern(pattern, name)).toBe(expected)
  })

  test('patterns are matched in linear time, with any number of stars', () => {
    expect(matchesPattern(`${'a*'.repeat(500)}b*`, 'a'.repeat(100_000))).toBe(false)
    expectLinear((size) => matchesPattern(`${'a*'.repeat(size / 2)}b*`, 'a'.repeat(size)), 100_000)
  })
})
