import type { ChatMessage, Line, Part } from './message.ts'

/** How a format writes texts of users, so that none of their characters has a meaning, and links. */
export type Writing = {
  escape(text: string): string
  /** `label` is escaped. */
  link(label: string, url: string): string
}

/** Separates `@` from the name after it: no user, group or channel is notified. */
const withoutMentions = (text: string): string => text.replaceAll('@', '@\u200b')

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const withEntities = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character]!)

const backslashed = (text: string, characters: RegExp): string => text.replace(characters, '\\$&')

const asMarkdown = (label: string, url: string): string => `[${label}](${url})`

/** Slack reads `<…>` as links and mentions, and nothing else with `mrkdwn: false`. */
export const slackWriting: Writing = {
  escape: (text) => withEntities(withoutMentions(text)),
  link: (label, url) => `<${url}|${label}>`,
}

/** Markdown, and links and mentions of Slack. */
export const mattermostWriting: Writing = {
  escape: (text) => withEntities(backslashed(withoutMentions(text), /[\\`*_[\]()#!~|]/g)),
  link: asMarkdown,
}

/** Markdown without HTML entities; `<` begins mentions and emoji. */
export const discordWriting: Writing = {
  escape: (text) => backslashed(withoutMentions(text), /[\\`*_[\]()#!~|<>:]/g),
  link: asMarkdown,
}

/** Markdown and HTML. Numeric entities have no meaning in either, on every client. */
export const teamsWriting: Writing = {
  escape: (text) => withoutMentions(text).replace(/[&<>"\\`*_[\]()#!~|]/g, (each) => `&#${each.codePointAt(0)};`),
  link: asMarkdown,
}

/** A longer URL is left out. */
const maxUrlLength = 500

/** A URL of the service without characters that end it in some format. */
const plainUrl = (url: string): string =>
  url.replace(/[^\w\-.~:/?#@!$&+,;=%]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )

function writePart(part: Part, writing: Writing): string {
  if (typeof part === 'string') return writing.escape(part)
  const url = plainUrl(part.url)
  return url.length > maxUrlLength ? writing.escape(part.text) : writing.link(writing.escape(part.text), url)
}

export const writeLine = (line: Line, writing: Writing): string => line.map((part) => writePart(part, writing)).join('')

/** The details, as many lines as fit. */
export function writeDetails({ details }: ChatMessage, writing: Writing, maximum: number): string[] {
  let left = maximum
  return details
    .map((line) => writeLine(line, writing))
    .filter((line) => {
      left -= line.length + 2
      return left >= 0
    })
}

/** Without links and formats, for notifications. */
export const plainLine = (line: Line): string =>
  line.map((part) => (typeof part === 'string' ? part : part.text)).join('')
