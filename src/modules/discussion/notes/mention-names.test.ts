import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../../test/growth.ts'
import { mentionedNames } from './mention-names.ts'

const named = (text: string) => mentionedNames(text).map(({ name, addressed }) => (addressed ? `!${name}` : name))

describe('mentions in a text', () => {
  test.for([
    ['@ann, please look', ['!ann']],
    ['Please look, @ann', ['ann']],
    [' @ann and @bob: what about @eve.', ['!ann', '!bob', 'eve']],
    ['@Ann @ann @ANN', ['!ann']],
    ['Ask @ann-marie.jones_2, or @bob-.', ['ann-marie.jones_2', 'bob']],
    ['(@ann) [@bob] **@eve**', ['ann', 'bob', 'eve']],
    ['ann@example.com, //host/@ann, @@ann, a.@b', []],
    ['`@ann` and\n```\n@bob\n```\n@eve', ['eve']],
    ['~~~\n@ann\n```\n~~~\n@bob', ['bob']],
    ['```\n@ann', []],
    ['@', []],
    ['', []],
  ] as const)('%j mentions %j', ([text, names]) => {
    expect(named(text)).toEqual(names)
  })

  test('a text has at most a hundred mentions', () => {
    expect(mentionedNames(Array.from({ length: 500 }, (_, index) => `@u${index}`).join(' '))).toHaveLength(100)
  })

  test.for(['@a.', '@a', '`', '@-.', '@a and ', ' ', '```\n', '@'])(
    'mentions are found in linear time when %j repeats',
    (part) => {
      expectLinear((size) => mentionedNames(part.repeat(size)), 100_000)
    },
  )
})
