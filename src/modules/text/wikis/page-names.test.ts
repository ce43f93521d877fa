import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSafePath } from '../../../git/format/safe-path.ts'
import { Failure } from '../../../kernel/failure.ts'
import { fileOf, pageAt, stemOf } from './page-names.ts'

describe('titles of wiki pages', () => {
  test.for<[title: string, folder: string, stem: string]>([
    ['Home', '', 'Home'],
    ['How to  start', '', 'How-to-start'],
    ['docs/How to', '', 'docs/How-to'],
    ['How to', 'docs', 'docs/How-to'],
    ['/How to', 'docs', 'How-to'],
    ['other/How to', 'docs', 'other/How-to'],
    ['Überblick/日本', '', 'Überblick/日本'],
    ['U\u0308berblick', '', 'Überblick'],
    ['v1.2.x', '', 'v1.2.x'],
    ['.hidden', '', '.hidden'],
    [' padded ', '', 'padded'],
  ])('the title %j in folder %j is the file %j', ([title, folder, stem]) => {
    expect(stemOf(title, folder)).toBe(stem)
  })

  test.for([
    '',
    ' ',
    '/',
    '.',
    '..',
    'a/../b',
    'a//b',
    'a/.',
    '../a',
    'a/',
    '.git/config',
    'x/.GIT/hooks',
    'git~1/x',
    'a\0b',
    'a\u0007b',
    'a'.repeat(246),
    `${'d'.repeat(256)}/a`,
    'new',
    'pages',
    'git_access',
    `uploads/${'0a'.repeat(16)}/x`,
    '\ud800',
  ])('the title %j is refused', (title) => {
    expect(() => stemOf(title)).toThrow(Failure)
  })

  test('any title is refused or is a file that reads back as the same page', () => {
    const titles = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[a-c./ -]{1,12}$/),
    )
    fc.assert(
      fc.property(titles, (title) => {
        let stem: string
        try {
          stem = stemOf(title)
        } catch (error) {
          expect(error).toBeInstanceOf(Failure)
          return
        }
        const path = fileOf(stem, 'markdown')
        expect(isSafePath(path)).toBe(true)
        expect(pageAt(path)).toMatchObject({ path, slug: stem, format: 'markdown' })
        // A slug is a title of the same page.
        expect(stemOf(stem)).toBe(stem)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('files of a wiki', () => {
  test.for<[path: string, page: object | undefined]>([
    ['home.md', { slug: 'home', title: 'home', format: 'markdown' }],
    ['My page.markdown', { slug: 'My-page', title: 'My page', format: 'markdown' }],
    ['my dir/a-b.org', { slug: 'my-dir/a-b', title: 'a b', format: 'org' }],
    ['a.b.MD', { slug: 'a.b', title: 'a.b', format: 'markdown' }],
    ['notes.txt', { slug: 'notes', title: 'notes', format: 'plaintext' }],
    ['uploads/0123/picture.png', undefined],
    [`uploads/${'0a'.repeat(16)}/notes.txt`, undefined],
    ['uploads/notes.txt', { slug: 'uploads/notes', title: 'notes', format: 'plaintext' }],
    ['Makefile', undefined],
    ['.md', undefined],
    ['dir/.md', undefined],
    ['a.constructor', undefined],
    ['lone-\udcff.md', undefined],
  ])('the file %j is the page %j', ([path, page]) => {
    if (page) expect(pageAt(path)).toMatchObject(page)
    else expect(pageAt(path)).toBeUndefined()
  })
})
