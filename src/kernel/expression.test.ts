import { expect, test } from 'vitest'
import { compileExpression, expressionViolation } from './expression.ts'

test('an expression matches anywhere, or the whole text', () => {
  expect(compileExpression('b|bc')('abcd')).toBe(true)
  const whole = compileExpression('b|bc', { whole: true })
  expect(['b', 'bc', 'abc', 'bcd', 'bc\n'].filter(whole)).toEqual(['b', 'bc'])
})

test.for(['.{1,1000}', '(?:\\w+[ -]){0,1000}', '(?:[A-Z]{2,10}-[0-9]{1,6},? ?){1,50}', 'x'.repeat(2000)])(
  'the expression %s is accepted',
  (text) => {
    expect(expressionViolation(text)).toBeUndefined()
  },
)

test.for(['(.{1,999})?'.repeat(2), '((a{1,31}){1,31})?'.repeat(12), `(?:${'.?'.repeat(50)}){1000}`])(
  'the expression %s is refused, because a match would take too long',
  (text) => {
    for (const options of [{}, { whole: true }])
      expect(() => compileExpression(text, options)).toThrow('pattern too large')
    expect(expressionViolation(text)).toBe('not valid RE2 syntax: pattern too large - compile failed')
  },
)
