import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { branchRef, compareRefNames, isHiddenRef, parseRefName, tagRef } from './ref-name.ts'

const accepted = (name: string, ...flags: string[]) =>
  spawnSync('git', ['check-ref-format', ...flags, name]).status === 0

const tails = [
  ...[
    'main',
    'a/b',
    'a/b/c',
    'feature-1',
    '-x',
    'a-',
    'HEAD',
    '@',
    'a@',
    '@a',
    'a@b',
    '@{',
    'a@{1}',
    '{',
    'a}',
    'ü',
    '日本',
    '🐙',
  ],
  ...['.', '..', 'a..b', 'a.', '.a', 'a/.b', 'a./b', 'a.b', 'a.lock', 'a.lock/b', 'a.lockb', 'lock', '.lock', 'a.LOCK'],
  ...[
    'a b',
    ' a',
    'a ',
    'a\tb',
    'a\nb',
    'a\x7fb',
    'a\x01b',
    'a~b',
    'a^b',
    'a:b',
    'a?b',
    'a*b',
    'a[b',
    'a]b',
    'a\\b',
    'a"b',
    "a'b",
    'a$b',
    'a;b',
    'a|b',
    'a&b',
    'a<b',
    'a>b',
    'a!b',
    'a#b',
    'a%b',
  ],
  ...[
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    'refs/heads/x',
    '--upload-pack=x',
    '--',
    'a,b',
    'a=b',
    '0'.repeat(40),
    '\u00a0',
    '\u2028',
  ],
]

test.each(tails.map((tail) => [tail]))('refs/heads/%j is valid exactly if git accepts it', (tail) => {
  expect(parseRefName(`refs/heads/${tail}`) !== undefined).toBe(accepted(`refs/heads/${tail}`))
})

test.each(tails.filter((tail) => !tail.includes('@{')).map((tail) => [tail]))(
  'the branch %j is valid exactly if git accepts it',
  (tail) => {
    expect(branchRef(tail) !== undefined).toBe(accepted(tail, '--branch'))
  },
)

test.each([
  'main',
  'refs',
  'refs/',
  'HEAD',
  'heads/main',
  'refs/heads/\ud800',
  `refs/heads/${'a'.repeat(256)}`,
  `refs/heads/${'a/'.repeat(600)}b`,
  'refs/heads/a\0b',
])('%j is not a full ref name', (name) => expect(parseRefName(name)).toBeUndefined())

test('a tag that looks like an option is invalid', () => {
  expect(tagRef('v1')).toBe('refs/tags/v1')
  expect(tagRef('-v1')).toBeUndefined()
})

test('hidden refs are recognized by path components, not by prefix', () => {
  expect(isHiddenRef('refs/stithy/undo/1')).toBe(true)
  expect(isHiddenRef('refs/stithy')).toBe(true)
  expect(isHiddenRef('refs/stithy-notes/1')).toBe(false)
})

test('names are in the order of their bytes', () => {
  const names = [
    'a',
    'a/b',
    'a-b',
    'ab',
    '',
    '\ud7ff',
    '\ue000',
    '\uff01',
    '\u{1f600}',
    '\u{1f680}',
    '\uff01\u{1f600}',
    '\u{1f600}!',
  ]
  const byBytes = names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  expect(names.toSorted(compareRefNames)).toEqual(byBytes)
  expect(names.toReversed().sort(compareRefNames)).toEqual(byBytes)
})
