import { describe, expect, test } from 'vitest'
import { render } from './render.ts'
import { tasksOf } from './tasks.ts'
import type { MarkdownContext } from './types.ts'

const siteUrl = 'https://git.example'
const home = `${siteUrl}/group/project`
const readme: MarkdownContext = { siteUrl, links: { home, of: { kind: 'files', ref: 'feature/a b' }, folder: 'docs' } }

const htmlOf = (text: string, context: MarkdownContext = { siteUrl }): string => {
  const { parts, references } = render({ text, context })
  return parts.map((part, index) => part + (references[index]?.fallback ?? '')).join('')
}

describe('extensions', () => {
  test('headings have unique ids and links to themselves, and the first table of contents lists them', () => {
    const html = htmlOf('[[_TOC_]]\n\n# One\n\n## Two *words*\n\n# One\n\n[[_TOC_]]')
    const link = (id: string, text: string) => `<a href="#user-content-${id}">${text}</a>`
    expect(html).toMatch(
      `<ul class="section-nav"><li>${link('one', 'One')}<ul><li>${link('two-words', 'Two words')}</li></ul></li><li>${link('one-1', 'One')}</li></ul>`,
    )
    for (const id of ['one', 'two-words', 'one-1'])
      expect(html).toContain(`id="user-content-${id}"><a class="anchor" href="#user-content-${id}"`)
    expect(html).toMatch(/<p>\[\[<em>TOC<\/em>\]\]<\/p>$/)
  })

  test.for([
    [
      'a suggestion shows its lines as added',
      '```suggestion:-1+20\n<b>\n```',
      '<pre data-lang="suggestion" class="suggestion" data-lines-above="1" data-lines-below="20"><code class="language-suggestion"><ins>&lt;b&gt;\n</ins></code></pre>',
    ],
    [
      'a suggestion for one line shows its lines as added',
      '```suggestion\na\n```',
      '<pre data-lang="suggestion" class="suggestion" data-lines-above="0" data-lines-below="0"><code class="language-suggestion"><ins>a\n</ins></code></pre>',
    ],
    [
      'a fence names its language',
      '```c++\na\n```',
      '<pre data-lang="c++"><code class="language-c++">a\n</code></pre>',
    ],
    ['a fence without a language', '```\na\n```', '<pre><code>a\n</code></pre>'],
    ['a formula in a line', 'a $`b<c`$ d', '<p>a <code class="math" data-math-style="inline">b&lt;c</code> d</p>'],
    [
      'a formula as a block',
      '```math\na\n```',
      '<pre data-lang="math" data-math-style="display"><code class="language-math">a\n</code></pre>',
    ],
    [
      'a diagram',
      '```mermaid\na\n```',
      '<pre data-lang="mermaid" data-diagram="mermaid"><code class="language-mermaid">a\n</code></pre>',
    ],
    [
      'another diagram',
      '```plantuml\na\n```',
      '<pre data-lang="plantuml" data-diagram="plantuml"><code class="language-plantuml">a\n</code></pre>',
    ],
    ['emoji codes', ':tada: \\:tada: `:tada:` :no_such:', '<p>🎉 :tada: <code>:tada:</code> :no_such:</p>'],
    ['a price is no formula', 'costs $5 or `$6`', '<p>costs $5 or <code>$6</code></p>'],
  ])('%s', ([, text, html]) => {
    expect(htmlOf(text!)).toBe(html)
  })

  test('footnotes lead to each other within the document', () => {
    const html = htmlOf('a[^x]\n\n[^x]: b')
    expect(html).toContain('<a href="#user-content-fn1" id="user-content-fnref1">[1]</a>')
    expect(html).toContain('<li id="user-content-fn1" class="footnote-item"><p>b <a href="#user-content-fnref1"')
  })

  test('a task is one line, as it is counted: a mark at the end of a line is none', () => {
    for (const text of ['- [ ]\n  text', '- [ ] **bold**', '- [x]\ttext', '- [ ]'])
      expect(htmlOf(text).includes('checkbox'), text).toBe(tasksOf(text).length === 1)
  })

  test('checkboxes of tasks cannot be changed, and no document can write a checkbox itself', () => {
    const html = htmlOf('- [ ] a\n- [x] b\n- \\[x] c\n- <input type="checkbox" checked> d')
    expect(html.match(/<input [^>]*>/g)).toEqual([
      '<input type="checkbox" class="task-list-item-checkbox" disabled="" aria-label="Incomplete task">',
      '<input type="checkbox" class="task-list-item-checkbox" disabled="" checked="" aria-label="Completed task">',
    ])
  })
})

describe('links and images', () => {
  const href = (text: string, context = readme) => /<a href="([^"]*)"/.exec(htmlOf(text, context))?.[1]
  const src = (text: string, context = readme) => / src="([^"]*)"/.exec(htmlOf(text, context))?.[1]
  const at = `${home}/-/blob/feature/a%20b`

  test.for([
    ['a file beside the document', '[a](b.txt)', `${at}/docs/b.txt`],
    ['a file above it', '[a](../src/b.ts#L3)', `${at}/src/b.ts#L3`],
    ['the root of the repository', '[a](/b.txt?plain=1)', `${at}/b.txt?plain=1`],
    ['no way above the root', '[a](../../../../etc/passwd)', `${at}/etc/passwd`],
    ['a folder', '[a](sub/)', `${home}/-/tree/feature/a%20b/docs/sub`],
    ['a heading of another document', '[a](b.md#one)', `${at}/docs/b.md#user-content-one`],
    ['a heading of this document', '[a](#one)', '#user-content-one'],
    ['an upload', `[a](/uploads/${'0'.repeat(32)}/b.pdf)`, `${home}/uploads/${'0'.repeat(32)}/b.pdf`],
    ['another host', '[a](https://other.example/b)', 'https://other.example/b'],
    ['a mail address', '[a](mailto:a@b.example)', 'mailto:a@b.example'],
  ])('a link leads to %s', ([, text, expected]) => {
    expect(href(text!)).toBe(expected)
  })

  test('an image of the repository is shown as it is, and an upload from the project', () => {
    expect(src('![a](img/b.png)')).toBe(`${home}/-/raw/feature/a%20b/docs/img/b.png`)
    expect(src(`![a](/uploads/${'0'.repeat(32)}/b.png)`)).toBe(`${home}/uploads/${'0'.repeat(32)}/b.png`)
    expect(src('![a](https://other.example/b.png)')).toBe('https://other.example/b.png')
  })

  test('an external image whose URL has no slashes goes through the proxy', () => {
    const assetProxy = { url: 'https://proxy.example', secret: 'a', allowlist: [] }
    for (const links of [readme.links!, undefined]) {
      const context = { siteUrl, assetProxy, ...(links && { links }) }
      for (const url of ['http:other.example/b.png', 'http:\\\\other.example/b.png', '//other.example/b.png'])
        expect(htmlOf(`<img src="${url}">`, context), url).toContain('src="https://proxy.example/')
      expect(htmlOf('![a](http:other.example/b.png)', context)).toContain('src="https://proxy.example/')
    }
    expect(htmlOf('[a](http:other.example)')).toContain('rel="nofollow noopener ugc"')
  })

  test('links of a wiki lead to its pages', () => {
    const wiki: MarkdownContext = { siteUrl, links: { home, of: { kind: 'wiki' }, folder: 'guide' } }
    expect(href('[a](start)', wiki)).toBe(`${home}/-/wikis/guide/start`)
    expect(href('[a](/start#one)', wiki)).toBe(`${home}/-/wikis/start#one`)
  })

  test('relative links without a place stay as written', () => {
    expect(href('[a](b/c)', { siteUrl })).toBe('b/c')
  })

  test('links to other hosts do not vouch for them', () => {
    expect(htmlOf('[a](https://other.example/)')).toContain('rel="nofollow noopener ugc"')
    for (const own of [`${siteUrl}/a`, '#b', 'c']) expect(htmlOf(`[a](${own})`)).not.toContain('rel=')
    expect(htmlOf(`[a](${siteUrl}.evil.example/)`)).toContain('rel=')
  })
})

describe('lines', () => {
  const line = (text: string) => htmlOf(text, { siteUrl, inline: true })

  test('a line has no Markdown and no HTML, but links and emoji', () => {
    expect(line('# *a* <b>c</b> `d` :tada:')).toBe('# *a* &lt;b&gt;c&lt;/b&gt; `d` 🎉')
    expect(line('see https://other.example/a')).toBe(
      'see <a href="https://other.example/a" rel="nofollow noopener ugc">https://other.example/a</a>',
    )
  })
})
