import { describe, expect, test } from 'vitest'
import { limits, TooComplex } from './limits.ts'
import { render } from './render.ts'
import { attacks } from './testing/attacks.ts'
import { bombs } from './testing/bombs.ts'
import { dangersOf, elementsOf } from './testing/html.ts'
import type { MarkdownContext } from './types.ts'

const siteUrl = 'https://git.example'
const links = { home: `${siteUrl}/a/b`, of: { kind: 'files', ref: 'main' }, folder: 'docs' } as const
const contexts: readonly MarkdownContext[] = [
  { siteUrl, links },
  { siteUrl, inline: true },
]

/** The HTML for a reader who sees no reference; undefined for a document that exceeds a limit. */
function htmlOf(text: string, context: MarkdownContext): string | undefined {
  try {
    const { parts, references } = render({ text, context })
    return parts.map((part, index) => part + (references[index]?.fallback ?? '')).join('')
  } catch (error) {
    if (error instanceof TooComplex) return undefined
    throw error
  }
}

test('no script, handler, style, form or other scheme survives in 2,000 hostile documents, as a browser would parse them', () => {
  const hostile = attacks()
  expect(hostile.length).toBeGreaterThan(2_000)
  const harmful = hostile.flatMap((text) =>
    contexts.flatMap((context) => {
      const dangers = dangersOf(htmlOf(text, context)!)
      return dangers.length > 0 ? [{ text, dangers }] : []
    }),
  )
  expect(harmful).toEqual([])
})

test('the HTML of a document stays within the element around it', () => {
  for (const text of attacks()) {
    const html = htmlOf(text, contexts[0]!)!
    const around = elementsOf(`<section id="around">${html}</section><aside></aside>`)
    // An element that closes the one around it, or one that is left open, changes what is found after it.
    expect(
      around.filter(({ name }) => name === 'aside'),
      text,
    ).toHaveLength(1)
    expect(around.length, text).toBe(elementsOf(html).length + 2)
  }
})

test('the check finds what harms', () => {
  const harmful = [
    '<script>',
    '<b onclick=x>',
    '<a href=" javascript:x">',
    '<p style=x>',
    '<form>',
    '<svg><a>',
    '<p id=x>',
    '<input>',
  ]
  for (const html of harmful) expect(dangersOf(html), html).not.toEqual([])
})

describe('documents that are out of proportion', () => {
  test.for(Object.entries(bombs))('%s: the HTML is safe and limited', ([, make]) => {
    for (const n of [500, 8_000])
      for (const context of contexts) {
        const html = htmlOf(make(n), context)
        if (html === undefined) continue
        expect(dangersOf(html)).toEqual([])
        expect(html.length).toBeLessThanOrEqual(limits.html)
        expect(elementsOf(html).length).toBeLessThanOrEqual(2 * limits.elements)
      }
  })
})

test('a document that is too long is refused before it is parsed', () => {
  expect(htmlOf('a'.repeat(limits.text + 1), contexts[0]!)).toBeUndefined()
  expect(htmlOf('a'.repeat(limits.text), contexts[0]!)).toHaveLength(limits.text + '<p></p>'.length)
})

test.for([
  ['quotes', (depth: number) => `${'>'.repeat(depth)} deepest`],
  [
    'lists',
    (depth: number) =>
      Array.from({ length: depth }, (_, n) => `${'  '.repeat(n)}- ${n < depth - 1 ? n : 'deepest'}`).join('\n'),
  ],
] as const)('nested %s are shown whole, or as text where they are too deep', ([, nested]) => {
  for (const depth of [10, 60, 99, 100, 101, 150, 198, 250, 1_000]) {
    const html = htmlOf(nested(depth), contexts[0]!)
    expect(html === undefined || html.includes('deepest'), `${depth}`).toBe(true)
    if (depth <= 60) expect(html).toBeDefined()
  }
})
