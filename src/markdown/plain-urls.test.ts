import MarkdownIt from 'markdown-it'
import { expect, test, vi } from 'vitest'
import { keepsPlainUrls } from './plain-urls.ts'
import { attacks } from './testing/attacks.ts'
import { commonExamples } from './testing/mixtures.ts'

const parts: readonly (readonly string[])[] = [
  ['http://', 'https://', 'HTTP://', 'ftp://', '//', 'mailto:', 'http:', ''],
  [
    'a.example',
    'A.example',
    'a@b.example',
    'a:b@c.example',
    'xn--bcher-kva.example',
    'bücher.example',
    '-a-.b-.example',
  ],
  ['', ':80', '.', '..', '_', '%41', ' ', "'", ';', '*'],
  ['', '/', '/a/../b//c', '/ä', '/%41%zz', '/a b', '/(a)[b]', '/a|b"c', '/@a:b;c=d', '/a\\b', '/\u0000'],
  ['', '?', '?a=b&c=%20', '?a?b', '?ä', '?a[]="', '#a', '#a#b', '#%C3%A4', '#ä^`'],
]
const combined = parts.reduce<string[]>(
  (before, part) => before.flatMap((begin) => part.map((end) => begin + end)),
  [''],
)
const written = [...attacks(), ...commonExamples].flatMap((text) => text.match(/[a-z]+:[^\s<>")]+/gi) ?? [])

test('URLs are written and shown as without the shortcut, and common ones take it', () => {
  const [parser, short] = [new MarkdownIt(), new MarkdownIt()]
  const encode = vi.spyOn(short, 'normalizeLink')
  keepsPlainUrls(short)
  const differ = [...combined, ...written].filter(
    (url) =>
      short.normalizeLink(url) !== parser.normalizeLink(url) ||
      short.normalizeLinkText(url) !== parser.normalizeLinkText(url),
  )
  expect(differ).toEqual([])
  encode.mockClear()
  short.normalizeLink('https://www.example.com/a/b.html?c=d&e#f-1')
  expect(encode).not.toHaveBeenCalled()
  short.normalizeLink('https://www.example.com/ä')
  expect(encode).toHaveBeenCalledOnce()
})
