import type { Site } from '../../../api/site.ts'
import { escaped } from '../../../kernel/html.ts'

/**
 * HTML version of a mail's text: its paragraphs and lines. Only addresses of this installation become links, because
 * names in mails are text that users choose.
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
    : withSpaces(escaped(line))

/** HTML shows several spaces as one, which spoils lines of code. */
const withSpaces = (html: string): string => html.replace(/^ |(?<= ) /g, '&nbsp;')
