import { describe, expect, test } from 'vitest'
import { expectLinear, expectSameCost } from '../../../../test/growth.ts'
import { mentionedNames, namedNoteables, qualifyReferences } from './references.ts'

const named = (text: string) => mentionedNames(text).map(({ name, addressed }) => (addressed ? `!${name}` : name))

describe('mentions in a text', () => {
  test.for([
    ['@ann, please look', ['!ann']],
    ['Please look, @ann', ['ann']],
    [' @ann and @bob: what about @eve.', ['!ann', '!bob', 'eve']],
    ['@Ann @ann @ANN', ['!ann']],
    ['Ask @ann-marie.jones_2, or @bob-.', ['ann-marie.jones_2', 'bob']],
    ['@ann/team, look; @ann/team/.', ['!ann/team']],
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

const site = 'http://forge.test:8080'
const references = (text: string) =>
  namedNoteables(text, site).map(
    ({ type, path, iid }) => `${type === 'Issue' ? 'issue ' : ''}${path === undefined ? '' : `${path} `}${iid}`,
  )

describe('issues and merge requests in a text', () => {
  test.for([
    ['See !12, (!13) and !14.', ['12', '13', '14']],
    ['!12 !12', ['12']],
    ['Group/Sub/Project!3 and other.one!4', ['group/sub/project 3', 'other.one 4']],
    [`${site}/group/project/-/merge_requests/7.`, ['group/project 7']],
    [`(${site}/group/project/merge_requests/8)#note_1`, ['group/project 8']],
    [`${site}/group/project/-/merge_requests/7x`, []],
    ['http://other.test/group/project/-/merge_requests/7', []],
    ['`!1` and\n```\n!2\n```\n!3', ['3']],
    ['!1x, !!, !, a/!, !12345678901', []],
    ['#12 is an issue, project#3 another', ['issue 12', 'issue project 3']],
    [`${site}/group/project/-/issues/7#note_1`, ['issue group/project 7']],
    ['&#12; #1a, ##, a/#, color #123456789012', []],
    ['', []],
  ] as const)('%j names %j', ([text, names]) => {
    expect(references(text)).toEqual(names)
  })

  test('a text names at most a hundred', () => {
    expect(references(Array.from({ length: 10_000 }, (_, index) => `!${index}`).join(' '))).toHaveLength(100)
  })

  test.for(['!1', 'a/', 'a.', 'a-', '!', `${site}/`, `${site}/a/`, 'a/b/', '/merge_requests/'])(
    'they are found in linear time when %j repeats',
    (part) => {
      expectLinear((size) => namedNoteables(part.repeat(size), site), 50_000)
    },
  )
})

describe('references of a text that moves to another project', () => {
  test.for([
    ['see #1, !2.', 'see a/b#1, a/b!2.'],
    ['c#3 and x/y#4', 'a/c#3 and x/y#4'],
    ['`#1` #2\n```\n#3\n```\n#4', '`#1` a/b#2\n```\n#3\n```\na/b#4'],
    ['~~~\n#1\n```\n#2', '~~~\n#1\n```\n#2'],
    ['#x, a#, &#39; and https://h/#1', '#x, a#, &#39; and https://h/#1'],
    ['It costs $5, see #1', 'It costs $5, see a/b#1'],
    ['', ''],
  ] as const)('%j becomes %j', ([text, moved]) => {
    expect(qualifyReferences(text, 'a/b')).toBe(moved)
  })

  test('a text stays as it is if a long path would make it too long', () => {
    const text = '#1 '.repeat(333_000)
    expect(qualifyReferences(text, 'a/'.repeat(2_000)) === text).toBe(true)
    expect(qualifyReferences(`${'-'.repeat(999_990)} #1`, 'a/b')).toMatch(/ a\/b#1$/)
  })

  test('nothing more is looked for in a text that has become too long', async () => {
    const path = 'a/'.repeat(500_000)
    const qualify = (times: number) => async () => qualifyReferences('#1 '.repeat(times), path)
    await expectSameCost(qualify(3), qualify(333_000))
  })

  test.for(['#1 ', '`', '```\n', '~~~', 'a/', 'a#1'])(
    'references are changed in linear time when %j repeats',
    (part) => {
      expectLinear((size) => qualifyReferences(part.repeat(size), 'a/b'), 100_000)
    },
  )
})
