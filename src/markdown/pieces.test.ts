import { globSync, readFileSync } from 'node:fs'
import type { Root } from 'hast'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { parseHtml } from './html.ts'
import { TooComplex } from './limits.ts'
import { type Parsed, parseMarkdown } from './parser.ts'
import { treeOfDocument } from './pieces.ts'
import { Places } from './places.ts'
import { finishTree } from './render.ts'
import { attacks } from './testing/attacks.ts'
import { bombs } from './testing/bombs.ts'
import { githubExamples } from './testing/github.ts'
import { commonExamples, mixtures } from './testing/mixtures.ts'

const treeOfWhole = ({ tokens, toHtml }: Parsed): Root => parseHtml(toHtml(tokens))

/** What `make` returns, or that the document exceeds a limit. */
function unlessTooComplex<T>(make: () => T): T | 'too complex' {
  try {
    return make()
  } catch (error) {
    if (error instanceof TooComplex) return 'too complex'
    throw error
  }
}

const siteUrl = 'https://git.example'
const htmlOf = (tree: Root): string => {
  const { parts, references } = finishTree(tree, { siteUrl })
  return parts.map((part, index) => part + (references[index]?.fallback ?? '')).join('')
}

const fill = vi.spyOn(Places.prototype, 'fill')
afterEach(() => {
  fill.mockClear()
})

/** How many documents were parsed in pieces. */
const inPieces = (): number => fill.mock.results.filter(({ type }) => type === 'return').length

function expectSame(text: string): void {
  const parsed = unlessTooComplex(() => parseMarkdown(text, false))
  if (parsed === 'too complex') return
  const tree = unlessTooComplex(() => treeOfDocument(parsed))
  const whole = unlessTooComplex(() => treeOfWhole(parsed))
  if (tree === 'too complex' || whole === 'too complex') return expect(tree, text).toBe(whole)
  expect(tree.children, text).toEqual(whole.children)
  expect(unlessTooComplex(() => htmlOf(tree))).toBe(unlessTooComplex(() => htmlOf(whole)))
}

/** A document with blocks of Markdown before and after others. */
const surrounded = (text: string): string => `a\n\n${text}\n\n|b|\n|-|\n\n- c\n\n# d`

describe('a document in pieces has the tree and the HTML that it has as a whole', () => {
  test('for specifications and mixtures of blocks and raw HTML', () => {
    const texts = [...commonExamples, ...githubExamples.map(([, text]) => text)].map(surrounded)
    const mixed = mixtures(6_000)
    for (const text of [...texts, ...mixed]) expectSame(text)
    expect(inPieces()).toBeGreaterThan(mixed.length / 4)
  })

  test('for hostile documents', () => {
    const texts = attacks()
    for (const text of texts) expectSame(surrounded(text))
    expect(inPieces()).toBeGreaterThan(texts.length / 4)
  })

  test('for documents out of proportion', () => {
    for (const make of Object.values(bombs)) for (const n of [100, 4_000]) expectSame(surrounded(make(n)))
    expect(inPieces()).toBeGreaterThan(10)
  })

  test('for the READMEs of installed packages', () => {
    const files = globSync('node_modules/**/readme*.{md,markdown}', { cwd: new URL('../..', import.meta.url) })
    const upper = globSync('node_modules/**/README*.{md,markdown}', { cwd: new URL('../..', import.meta.url) })
    for (const file of new Set([...files, ...upper])) expectSame(readFileSync(file, 'utf8'))
    expect(inPieces()).toBeGreaterThan(50)
  })
})

describe('a document is parsed in pieces', () => {
  test.for([
    ['an image within a paragraph', 'a <img src="b">\n\n# c'],
    ['a centered paragraph', '<p align="center">\n<img src="a">\n</p>\n\n- b'],
    ['a table', '<table><tr><td>a</td></tr></table>\n\n|b|\n|-|'],
    ['blocks within details', '<details>\n<summary>a</summary>\n\n# b\n\n- c\n\n</details>\n\nd'],
    ['a comment', 'a\n\n<!-- b -->\n\nc'],
    ['an open paragraph, which a block closes', '<p>a\n\nb'],
    ['a footnote', 'a[^1]\n\nb\n\n[^1]: c'],
    ['a carriage return', 'a&#13;b\n\nc'],
    ['an end tag alone', '</div>\n\na'],
  ])('with %s', ([, text]) => {
    expectSame(text!)
    expect(inPieces()).toBe(1)
  })
})

describe('a document is parsed as a whole', () => {
  test.for([
    ['formatting is open', '<b>\n\na'],
    ['formatting is open in an element that is closed', '<div><b></div>\n\na'],
    ['a link is open', '<a href="b">\n\n[c](d)'],
    ['a heading is open', '<h2>a\n\n# b'],
    ['a list is open', '<ul><li>\n\n- a\n\n</ul>'],
    ['a table is open', '<table>\n\n|a|\n|-|\n\n</table>'],
    ['a cell is open', '<table><tr><td>\n\na\n\n</td></tr></table>'],
    ['text stands in a table', 'a\n\n<table>b<tr></tr></table>\n\nc'],
    ['a form is open', '<form>\n\na\n\n</form>'],
    ['a foreign element is open', '<svg><foreignObject>\n\na'],
    ['a template is open', '<template>\n\na\n\n</template>'],
    ['a comment is open', '<!-- a\n\nb -->c'],
    ['a text element is open', '<textarea>\n\na\n\n</textarea>'],
    ['a tag is open', '<div a="\n\nb'],
    ['plain text follows', '<plaintext>\n\na'],
  ])('when %s', ([, text]) => {
    expectSame(text!)
    expect(inPieces()).toBe(0)
  })

  test('when blocks would be too deep in it', () => {
    const deep = (elements: number, block: string): string => `${'<div>'.repeat(elements)}\n\n${block}`
    for (const block of ['a', '`a`', '> *`a`*', '```\na\n```', '> > a'])
      for (let elements = 190; elements <= 200; elements++) expectSame(deep(elements, block))
    fill.mockClear()
    expectSame(deep(198, 'a'))
    expect(inPieces()).toBe(0)
  })
})

test('a document cannot write the place of a block', () => {
  const marks = vi.spyOn(Places.prototype, 'add')
  const text = '<br>\n\na'
  treeOfDocument(parseMarkdown(text, false))
  const [place] = marks.mock.results.map(({ value }) => String(value))
  expect(htmlOf(treeOfDocument(parseMarkdown(`${text}\n\n${place}`, false)))).toContain(place!.trim())
  marks.mockRestore()
})

test('elements of all pieces together are limited', () => {
  const text = `${'<br>'.repeat(25_000)}\n\n${'a\n\n'.repeat(24_980)}`
  expectSame(text)
  expect(inPieces()).toBe(1)
  for (const further of [16, 17]) expectSame(text + 'a\n\n'.repeat(further))
})
