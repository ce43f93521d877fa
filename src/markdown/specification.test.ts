import specification from 'commonmark-spec'
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { describe, expect, test } from 'vitest'
import { finishTree, render } from './render.ts'
import { parseHtml } from './sanitize.ts'
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
  test.for([
    ['a table', '| foo | bar |\n| --- | --- |\n| baz | bim |'],
    ['aligned columns', '| abc | defghi |\n:-: | -----------:\nbar | baz'],
    ['left alignment', '|a|b|\n|:-|-|\n|c|d|'],
    ['an escaped pipe in a cell', '| f\\|oo  |\n| ------ |\n| b `\\|` az |\n| b **\\|** im |'],
    ['a quote after a table', '| abc | def |\n| --- | --- |\n| bar | baz |\n> bar'],
    ['a paragraph line becomes a row', '| abc | def |\n| --- | --- |\n| bar | baz |\nbar\n\nbar'],
    ['no table when the numbers of columns differ', '| abc | def |\n| --- |\n| bar |'],
    ['missing and additional cells', '| abc | def |\n| --- | --- |\n| bar |\n| bar | baz | boo |'],
    ['a table without rows', '| abc | def |\n| --- | --- |'],
    ['a table without outer pipes', 'a | b\n- | -\nc | d'],
    ['a table in a list', '- a | b\n  - | -\n  c | d'],
    ['a table in a quote', '> a | b\n> - | -\n> c | d'],
    ['inline Markdown in cells', '| *a* | `b` |\n|-|-|\n| [c](d) | ~~e~~ |'],
    ['strikethrough', '~~Hi~~ Hello, world!'],
    ['strikethrough does not span paragraphs', 'This ~~has a\n\nnew paragraph~~.'],
    ['strikethrough within emphasis', '**a ~~b~~ c**'],
    ['a URL', 'Visit https://encrypted.google.com/search?q=Markup+(business) now'],
    ['a domain', 'www.commonmark.org'],
    ['a domain with a path', 'Visit www.commonmark.org/help for more information.'],
    ['punctuation after a domain', 'Visit www.commonmark.org.\n\nVisit www.commonmark.org/a.b.'],
    [
      'parentheses around a domain',
      'www.google.com/search?q=Markup+(business)\n\n(www.google.com/search?q=Markup+(business))',
    ],
    ['a parenthesis within a domain', 'www.google.com/search?q=(business))+ok'],
    [
      'a character reference after a domain',
      'www.google.com/search?q=commonmark&hl=en\n\nwww.google.com/search?q=commonmark&hl;',
    ],
    ['a less-than sign ends a domain', 'www.commonmark.org/a<b'],
    ['a URL in emphasis', '*https://example.com/a* and **www.example.com**'],
    ['a URL in angle brackets', '<https://example.com>'],
    ['no link in code', '`https://example.com` and `www.example.com`'],
    ['no link within a link', '[https://example.com](https://other.example)'],
    ['a mail address', 'foo@bar.baz'],
    ['dots in a mail address', 'hello.a+b@mail.example and a@b.example.'],
    ['a task', '- a\n- b'],
    ['a footnote', 'a'],
  ])('%s is as on GitHub', ([, text]) => {
    expect(rendered(text!)).toBe(asGithub(text!))
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
