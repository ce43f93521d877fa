import type { Site } from '../../../api/site.ts'
import { escaped } from '../../../kernel/html.ts'

/**
 * The text of a mail as HTML: its paragraphs and lines. Lines that are an address of ours are links; no other address is one,
 * since names in mails are text that somebody chose.
 */
export const htmlOf = (text: string, site: Site): string =>
  text
    .trim()
    .split(/\n{2,}/)
    .map(
      (paragraph) =>
        `<p>${paragraph
          .split('\n')
          .map((line) => htmlLine(line, site))
          .join('<br>\n')}</p>\n`,
    )
    .join('')

const htmlLine = (line: string, { url }: Site): string =>
  /^https?:\S+$/.test(line) && line.startsWith(`${url}/`)
    ? `<a href="${escaped(line)}">${escaped(line)}</a>`
    : escaped(line)
