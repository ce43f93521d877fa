import { describe, expect, test } from 'vitest'
import { literalsOf } from '../../tools/regular-expressions/literals.ts'
import { slowExpressions } from '../../tools/regular-expressions/slow.ts'

describe('the check of regular expressions', () => {
  test('literals of a file are found with their lines', () => {
    expect(literalsOf("const a = 1 / 2 / 3\nconst b = /x\\/y/giu // '/no/'\nf(/z/)")).toEqual([
      { literal: '/x\\/y/giu', line: 2 },
      { literal: '/z/', line: 3 },
    ])
  })

  test('expressions of exponential and of quadratic time are reported, those of linear time are not', async () => {
    const { slow, undecided } = await slowExpressions(['/^(?:a|a)+$/', '/x+$/', '/^x+$/', '/(?:[\\p{M}]|\\ufe0f)+$/u'])
    expect([...slow.keys()].sort()).toEqual(['/(?:[\\p{M}]|\\ufe0f)+$/u', '/^(?:a|a)+$/', '/x+$/'])
    expect(undecided.size).toBe(0)
    expect(slow.get('/^(?:a|a)+$/')).toContain('exponential')
  })
})
