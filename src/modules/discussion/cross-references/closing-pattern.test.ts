import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../../test/growth.ts'
import { closingReferences } from './closing-pattern.ts'

const site = 'http://forge.test:8080'
const closes = (text: string) =>
  closingReferences(text, site).map(({ path, iid }) => (path === undefined ? `${iid}` : `${path} ${iid}`))

describe('issues that a text closes', () => {
  test.for(
    [
      'close',
      'closes',
      'closed',
      'closing',
      'fix',
      'fixes',
      'fixed',
      'fixing',
      'resolve',
      'resolves',
      'resolved',
    ].concat(['resolving', 'implement', 'implements', 'implemented', 'implementing']),
  )('the word %j closes, with or without a capital and a colon', (word) => {
    const capital = `${word[0]!.toUpperCase()}${word.slice(1)}`
    expect(closes(`${word} #1 ${capital} #2 ${word}: #3 ${capital}: #4`)).toEqual(['1', '2', '3', '4'])
  })

  test.for([
    ['Closes #1, #2 and #3, and #4.', ['1', '2', '3', '4']],
    ['Closes issue #1 and issues #2,#3', ['1', '2', '3']],
    ['Closes project#1, Group/Sub/Project#2', ['project 1', 'group/sub/project 2']],
    [`Closes ${site}/group/project/-/issues/7, ${site}/a/b/issues/8#note_1`, ['group/project 7', 'a/b 8']],
    ['Closes #1\n\nFixes #1, #2', ['1', '2']],
    ['Closes ABC-12, #3', ['3']],
    ['This fixes #1 (see #2) and closes #3', ['1', '3']],
    ['Closes #1 and !2, #3', ['1']],
    ['Closes #1 #2', ['1']],
    ['`Closes #1` and\n```\nCloses #2\n```\nCloses `#3`', []],
    ['Closes#1, closes:#2, closes\n#3, close d #4', []],
    ['CLOSES #1, closest #2, enclose #3, prefix #4, fixe #5', []],
    ['Closes #1a, #, #12345678901', []],
    [`Closes ${site}/group/project/-/merge_requests/7`, []],
    ['Closes http://other.test/group/project/-/issues/7', []],
    ['See #1', []],
    ['', []],
  ] as const)('%j closes %j', ([text, issues]) => {
    expect(closes(text)).toEqual(issues)
  })

  test('a text closes at most a hundred issues', () => {
    expect(closes(`Closes ${Array.from({ length: 500 }, (_, index) => `#${index + 1}`).join(', ')}`)).toHaveLength(100)
  })

  test.for([
    'closes ',
    'closes #1 ',
    'closes a/',
    'closes a.',
    ' ',
    '#1, ',
    'issue ',
    'A-',
    `closes ${site}/a/`,
    'closes: ',
  ])('they are found in linear time when %j repeats', (part) => {
    expectLinear((size) => closes(`closes #1${part.repeat(size)}`), 50_000)
    expectLinear((size) => closes(`closes ${part.repeat(size)}`), 50_000)
  })
})
