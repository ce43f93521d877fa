import { describe, expect, test } from 'vitest'
import { parsePushOptions, withoutMergeRequests } from './parse.ts'

describe('options of a push', () => {
  test('options become an object by namespace, as webhooks show it', () => {
    const { options, warnings } = parsePushOptions([
      'ci.skip',
      'merge_request.create',
      'mr.title=A title = more',
      'mr.label=one',
      'merge_request.label=two',
      'mr.label=one',
      'mr.remove_source_branch=false',
    ])
    expect(options).toEqual({
      ci: { skip: true },
      merge_request: {
        create: true,
        title: 'A title = more',
        label: { one: 2, two: 1 },
        remove_source_branch: false,
      },
    })
    expect(warnings).toEqual([])
  })

  test('of a repeated option with one value, the last counts', () => {
    expect(parsePushOptions(['mr.target=a', 'mr.target=b']).options).toEqual({ merge_request: { target: 'b' } })
  })

  test('ci.variable stays in the object and has a warning', () => {
    expect(parsePushOptions(['ci.variable=MAX=10'])).toEqual({
      options: { ci: { variable: { 'MAX=10': 1 } } },
      valid: ['ci.variable=MAX=10'],
      warnings: ['The push option ci.variable has no effect: this server runs no pipelines itself.'],
    })
  })

  test.each([
    ['foo', "The push option 'foo' is unknown and has no effect."],
    ['merge_request.crate', "The push option 'merge_request.crate' is unknown and has no effect."],
    ['__proto__.create', "The push option '__proto__.create' is unknown and has no effect."],
    ['mr.constructor=x', "The push option 'mr.constructor=x' is unknown and has no effect."],
    ['', "The push option '' is unknown and has no effect."],
    ['mr.title', "The push option 'mr.title' has no effect: it needs a value."],
    ['mr.title=  ', "The push option 'mr.title=  ' has no effect: it needs a value."],
    ['ci.skip=maybe', "The push option 'ci.skip=maybe' has no effect: its value must be true or false."],
    ['mr.title=a\x1b[2Jb', "The push option 'mr.title=a\x1b[2Jb' has no effect: it is not plain text in UTF-8."],
    ['mr.title=\uFFFD', "The push option 'mr.title=\uFFFD' has no effect: it is not plain text in UTF-8."],
    ['x'.repeat(1000), `The push option '${'x'.repeat(80)}…' is unknown and has no effect.`],
  ])('the option %j has no effect and a warning', (option, warning) => {
    expect(parsePushOptions([option])).toEqual({ options: {}, valid: [], warnings: [warning] })
  })

  test('labels named like properties of objects are labels', () => {
    const { options } = parsePushOptions(['mr.label=__proto__', 'mr.label=constructor'])
    expect(Object.keys(options.merge_request!.label!)).toEqual(['__proto__', 'constructor'])
    expect(JSON.stringify(options)).toBe('{"merge_request":{"label":{"__proto__":1,"constructor":1}}}')
  })

  test.each([
    ['101 options', Array.from({ length: 101 }, (_, n) => `mr.label=${n}`)],
    ['more than 128 Ki characters', Array.from({ length: 3 }, () => `mr.description=${'x'.repeat(60_000)}`)],
  ])('of %s, none has an effect', (_title, sent) => {
    expect(parsePushOptions(sent)).toEqual({
      options: {},
      valid: [],
      warnings: ['No push option has an effect: the limit is 100 options of 131072 characters together.'],
    })
  })

  test('options of merge requests can be left out', () => {
    expect(withoutMergeRequests(['ci.skip', 'mr.create', 'merge_request.target=x'])).toEqual(['ci.skip'])
  })
})
