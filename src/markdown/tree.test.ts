import specification from 'commonmark-spec'
import type { Root } from 'hast'
import { toParse5 } from 'hast-util-to-parse5'
import { type DefaultTreeAdapterMap, serialize } from 'parse5'
import { describe, expect, test } from 'vitest'
import { parseHtml } from './html.ts'
import { TooComplex } from './limits.ts'
import { parseMarkdown } from './parser.ts'
import { sanitize } from './sanitize.ts'
import { attacks } from './testing/attacks.ts'
import { treeOf } from './tree.ts'
import { writeHtml } from './write.ts'

const examples = specification.tests.map(({ markdown }) => markdown.replaceAll('→', '\t'))

const pieces = [
  ...examples.flatMap((text) => [text.slice(0, 20), text.slice(-20)]),
  ...['&#13;', '&nbsp;', '[a <http://b.c> d](e)', '[^1]', '![i *m*](s "t")', '|a|b|\n|-|:-:|\n|c|d|\n', '\n\n', '3. '],
]

/** Texts that no person writes: pieces of the examples one after the other, the same in each run. */
const jumbled = (count: number): string[] =>
  Array.from({ length: count }, (_, text) =>
    [7, 31, 101].map((step) => pieces[(text * step + step) % pieces.length]).join(text % 3 === 0 ? '\n' : ' '),
  )

const parseWhole = (text: string): Root => {
  const { tokens, toHtml } = parseMarkdown(text, false)
  return parseHtml(toHtml(tokens))
}

const texts = [...examples, ...attacks(), ...jumbled(3000)]

describe('the tree of tokens', () => {
  test('is the one that a parser of HTML makes of their HTML, unless only that parser can say', () => {
    let direct = 0
    for (const text of texts)
      for (const isLine of [false, true]) {
        const parsed = parseMarkdown(text, isLine)
        const tree = treeOf(parsed.tokens)
        if (!tree) continue
        direct++
        expect(tree.children, text).toEqual(parseHtml(parsed.toHtml(parsed.tokens)).children)
      }
    expect(direct).toBeGreaterThan(texts.length)
  })

  test.for([
    ['raw HTML', '<b>a</b>'],
    ['a footnote', 'a[^1]\n\n[^1]: b'],
    ['a link within a link', '[a <http://b.c> d](e)'],
    ['a carriage return', 'a&#13;b'],
  ])('is left to the parser of HTML for %s', ([, text]) => {
    expect(treeOf(parseMarkdown(text!, false).tokens)).toBeUndefined()
  })

  test('has a limited depth', () => {
    const [paragraph] = parseMarkdown('a', false).tokens
    expect(() => treeOf(Array.from({ length: 300 }, () => paragraph!))).toThrow(TooComplex)
  })
})

test('HTML is written as the serializer of the standard writes it', () => {
  for (const text of texts) {
    const tree = sanitize(parseWhole(text))
    expect(writeHtml(tree), text).toBe(serialize(toParse5(tree) as DefaultTreeAdapterMap['documentFragment']))
  }
})
