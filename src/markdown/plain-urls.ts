import type MarkdownIt from 'markdown-it'

/** A URL that needs no encoding: most do not, and to take one apart and put it together costs more than this test. */
const plain = /^https?:\/\/(?:[a-z0-9-]{1,63}\.){1,3}[a-z]{2,20}(?:[/?#][\w\-.~/!*'():@&=+$,;?#]*)?$/

/** Leaves URLs alone that the parser would write as they are. `xn--` begins a part of a domain that it shows in letters. */
export function keepsPlainUrls(parser: InstanceType<typeof MarkdownIt>): void {
  const [encode, decode] = [parser.normalizeLink.bind(parser), parser.normalizeLinkText.bind(parser)]
  parser.normalizeLink = (url) => (plain.test(url) ? url : encode(url))
  parser.normalizeLinkText = (url) => (plain.test(url) && !url.includes('xn--') ? url : decode(url))
}
