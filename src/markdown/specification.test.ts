import specification from 'commonmark-spec'
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { describe, expect, test } from 'vitest'
import { parseHtml } from './html.ts'
import { finishTree, render } from './render.ts'
import { githubExamples } from './testing/github.ts'
import type { MarkdownContext } from './types.ts'

const context: MarkdownContext = { siteUrl: 'https://git.example', plain: true }

/** HTML without the white space between elements. */
const compact = (parts: readonly string[]): string =>
  parts.join('').replace(/\s+/g, ' ').replace(/> /g, '>').replace(/ </g, '<').trim()

const rendered = (text: string): string => compact(render({ text, context }).parts)

/** What is expected passes the same sanitizer, which removes what documents may not have. */
const sanitized = (html: string): string => compact(finishTree(parseHtml(html), context).parts)

/**
 * Examples of CommonMark that render differently, because URLs become links without angle brackets, as GitHub's specification says.
 */
const linked: ReadonlySet<number> = new Set([602, 608, 611, 612])

describe('CommonMark 0.31', () => {
  const examples = specification.tests.map(({ number, section, markdown, html }) => ({
    number,
    section,
    text: markdown.replaceAll('→', '\t'),
    html: html.replaceAll('→', '\t'),
  }))

  test('all examples render as the specification says, except for the listed ones', () => {
    expect(examples.length).toBe(652)
    const differ = examples.filter(({ text, html }) => rendered(text) !== sanitized(html)).map(({ number }) => number)
    expect(differ).toEqual([...linked])
  })

  test('the listed examples differ by links only', () => {
    for (const { number, text, html } of examples)
      if (linked.has(number)) expect(unlinked(rendered(text))).toBe(unlinked(sanitized(html)))
  })
})

const unlinked = (html: string): string => html.replace(/<\/?a\b[^>]*>|\s/g, '')

/** HTML by micromark, which implements the specification of GitHub Flavored Markdown. */
const asGithub = (text: string): string =>
  sanitized(
    micromark(text, {
      allowDangerousHtml: true,
      extensions: [gfm({ singleTilde: false })],
      htmlExtensions: [gfmHtml()],
    }),
  )

describe('GitHub Flavored Markdown', () => {
  test.for(githubExamples)('%s is as on GitHub', ([, text]) => {
    expect(rendered(text)).toBe(asGithub(text))
  })

  /** Differences that are meant, or limits of the parser, with their reason. */
  test.for([
    [
      'FTP URLs become links, as in the specification',
      'ftp://foo.bar.baz',
      '<p><a href="ftp://foo.bar.baz" rel="nofollow noopener ugc">ftp://foo.bar.baz</a></p>',
    ],
    ['one tilde does not strike, because it begins a label', '~bug and ~feature', '<p>~bug and ~feature</p>'],
    [
      'a checkbox has a name for screen readers',
      '- [x] a',
      '<ul><li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled="" checked="" aria-label="Completed task">a</li></ul>',
    ],
    ['tags that GitHub escapes are removed with their content', 'a <script>b</script> c', '<p>a c</p>'],
    ['three tildes strike', 'This will ~~~not~~~ strike.', '<p>This will ~<del>not</del>~ strike.</p>'],
    ['a title is removed', '<title>a</title> b', 'b'],
  ])('differs: %s', ([, text, html]) => {
    expect(rendered(text!)).toBe(html)
  })
})
