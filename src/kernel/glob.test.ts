import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectLinear } from '../../test/growth.ts'
import { nameGlob } from './glob.ts'
import { pathGlob } from './testing.ts'

describe('globs of names', () => {
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
    expect(nameGlob(pattern)(name)).toBe(expected)
  })

  test('names are matched in linear time, with any number of stars', () => {
    expect(nameGlob(`${'a*'.repeat(500)}b*`)('a'.repeat(100_000))).toBe(false)
    expectLinear((size) => nameGlob(`${'a*'.repeat(size / 2)}b*`)('a'.repeat(size)), 100_000)
  })
})

/** Parts of patterns, as short as possible, so that many of them match. */
const part = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', '-', ']', '?') },
  { weight: 3, arbitrary: fc.constantFrom('\\a', '\\*', '\\[', '\\\\', '\\?') },
  { weight: 2, arbitrary: fc.constantFrom('[ab]', '[!a]', '[^b]', '[a-c]', '[]a]', '[!]]', '[a-]', '[-a]', '[\\]b]') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('[[:alpha:]]', '[[:punct:]b]', '[[:nothing:]]', '[a', '[!', '[b-\\', '[/b]'),
  },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom(...'ab-!^:[]\\'), { maxLength: 5 }).map((members) => `[${members.join('')}]`),
  },
)
const segment = fc
  .array(fc.array(part, { maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .map((pieces) => pieces.map((parts) => parts.join('')).join('*'))
  .map((text) => text.replaceAll(/\*+/g, '*'))
const pattern = fc.array(fc.oneof({ weight: 3, arbitrary: segment }, fc.constantFrom('**', '***')), {
  minLength: 1,
  maxLength: 4,
})
const name = fc.array(fc.constantFrom(...'aaabbc-*[]?\\:'), { minLength: 1, maxLength: 4 })
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.map((each) => each.join('')).join('/'))

describe('globs of paths', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'stithy-glob-'))
    execFileSync('git', ['init', '-q'], { cwd: folder })
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** For each pattern, the paths to which git gives the attribute of its line. */
  function matchesOfGit(patterns: readonly string[], paths: readonly string[]): string[][] {
    const quoted = (text: string) => `"/${text.replaceAll(/["\\]/g, '\\$&')}"`
    writeFileSync(join(folder, '.gitattributes'), patterns.map((each, n) => `${quoted(each)} p${n}\n`).join(''))
    const attributes = patterns.map((_, n) => `p${n}`)
    const fields = execFileSync('git', ['check-attr', '-z', '--stdin', ...attributes], {
      cwd: folder,
      encoding: 'utf8',
      input: paths.map((each) => `${each}\0`).join(''),
    }).split('\0')
    const found = patterns.map((): string[] => [])
    for (let at = 0; at + 2 < fields.length; at += 3)
      if (fields[at + 2] === 'set') found[Number(fields[at + 1]!.slice(1))]!.push(fields[at]!)
    return found
  }

  test('a glob matches the paths that git matches, for random patterns and paths', () => {
    let matched = 0
    fc.assert(
      fc.property(
        fc.array(
          pattern.map((segments) => segments.join('/')),
          { minLength: 50, maxLength: 50 },
        ),
        fc.uniqueArray(path, { minLength: 40, maxLength: 40 }),
        (patterns, paths) => {
          const expected = matchesOfGit(patterns, paths)
          matched += expected.flat().length
          for (const [n, each] of patterns.entries())
            expect([each, paths.filter(pathGlob(each))]).toEqual([each, expected[n]])
        },
      ),
      { numRuns: 40 },
    )
    expect(matched).toBeGreaterThan(1_000)
  })

  test('paths are matched in linear time, with any number of stars, question marks and brackets', () => {
    const one = pathGlob(`${'*a?[ab]'.repeat(20)}c`)
    expectLinear((size) => one('a'.repeat(size)), 100_000)
    const many = pathGlob(`${'**/a/?/'.repeat(20)}c`)
    expectLinear((size) => many('a/'.repeat(size)), 50_000)
  })
})
