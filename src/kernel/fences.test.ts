import { expect, test } from 'vitest'
import { codeFence, fencedLines } from './fences.ts'

const fenced = (text: string): string[] =>
  fencedLines(text, codeFence)
    .filter((each) => each.fenced)
    .map(({ line }) => line)

test.for([
  ['ends at the same mark', 'a\n```\nb\n```\nc', ['```', 'b', '```']],
  ['ends at a longer mark', '```\nb\n`````\nc', ['```', 'b', '`````']],
  ['does not end at a shorter mark', '````\n```\nb\n````\nc', ['````', '```', 'b', '````']],
  ['does not end at another mark', '~~~\n```\n~~~\nc', ['~~~', '```', '~~~']],
  ['does not end at a mark with a language', '```\n```js\n```\nc', ['```', '```js', '```']],
  ['reaches to the end of the text without a mark', 'a\n```\nb', ['```', 'b']],
  ['does not begin with a code span', '```a``` b\nc', []],
] as const)('a block of code %s', ([, text, expected]) => {
  expect(fenced(text)).toEqual(expected)
})
