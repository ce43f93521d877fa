import { describe, expect, test } from 'vitest'
import { expectLinear } from '../../../../test/growth.ts'
import { parseQuickActions } from './parse.ts'

const known = new Set(['close', 'label', 'title'])
const parsed = (text: string) => {
  const { text: left, actions } = parseQuickActions(text, known)
  return [left, actions.map(({ name, argument }) => `${name}(${argument})`)]
}

describe('quick actions of a text', () => {
  test.for([
    ['/close', '', ['close()']],
    ['Fine.\n\n/label ~a ~b \n/CLOSE\n', 'Fine.', ['label(~a ~b)', 'close()']],
    ['/close\r\nGood', 'Good', ['close()']],
    ['/unknown x\n/closed\n //close\n/close/label', '/unknown x\n/closed\n //close\n/close/label', []],
    ['```\n/close\n```\n/title x', '```\n/close\n```', ['title(x)']],
    ['~~~\n/close\n```\n/close', '~~~\n/close\n```\n/close', []],
    ['>>>\n/close\n>>>', '>>>\n/close\n>>>', []],
    ['> /close\n    /close', '> /close\n    /close', []],
    ['/shrug Well', 'Well ¯\\_(ツ)_/¯', []],
    ['/tableflip', '(╯°□°)╯︵ ┻━┻', []],
    ['no actions / here \n', 'no actions / here \n', []],
  ] as const)('%j leaves %j and asks for %j', ([text, left, actions]) => {
    expect(parsed(text)).toEqual([left, actions])
  })

  test('a text has at most a hundred quick actions', () => {
    expect(parseQuickActions('/close\n'.repeat(150), known).actions).toHaveLength(100)
  })

  test('blanks before a character that ends a line elsewhere take linear time', () => {
    expectLinear((size) => parseQuickActions(`/title ${'\t'.repeat(size)}\u2028`, known), 5_000)
    expect(parsed('/title a\u2028b')).toEqual(['', ['title(a\u2028b)']])
  })

  test.for(['/', '/close ', '/close\n', '```\n', '/title a\n', '/a'])(
    'quick actions are found in linear time when %j repeats',
    (part) => {
      expectLinear((size) => parseQuickActions(part.repeat(size), known), 50_000)
    },
  )
})
