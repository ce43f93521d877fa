import { expect, test } from 'vitest'
import { expectLinear } from '../../test/growth.ts'
import { withoutEnds, withoutTrailing } from './without-ends.ts'

test.for([
  ['', ''],
  ['///', ''],
  ['a', 'a'],
  ['/a/b//', '/a/b'],
])('%j without slashes at its end is %j', ([text, left]) => {
  expect(withoutTrailing(text!, '/')).toBe(left)
})

test.for([
  ['', ''],
  ['///', ''],
  ['//a/b//', 'a/b'],
])('%j without slashes at both ends is %j', ([text, left]) => {
  expect(withoutEnds(text!, '/')).toBe(left)
})

test('characters that are not at the end take linear time', () => {
  expectLinear((size) => withoutEnds(`a${'/'.repeat(size)}a`, '/'), 100_000)
})
