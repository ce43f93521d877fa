import { codeFence, fencedLines } from '../../../kernel/fences.ts'

/** A suggested change in the text of a note, for the line of the note and lines around it. */
export type Suggested = {
  /** Lines above and below that of the note which it replaces as well. */
  readonly above: number
  readonly below: number
  /** The new lines, each with a line break; empty to delete them. */
  readonly text: string
}

/** Maximum suggestions of one note; further ones are shown, but cannot be applied. */
export const mostOfNote = 20
/** Maximum lines above and below; larger numbers count as this one. */
const mostLines = 100

const suggestion = /^ {0,3}(?:`{3,}|~{3,})[ \t]*suggestion(?::-(\d{1,9})\+(\d{1,9}))?[ \t]*$/

const bounded = (digits: string | undefined): number => Math.min(Number(digits ?? 0), mostLines)

/** The suggestions of a text: its blocks fenced as `suggestion` or `suggestion:-N+M`. Those in quotes and lists are not. */
export function parseSuggestions(text: string): Suggested[] {
  if (!text.includes('suggestion')) return []
  const found: Suggested[] = []
  let block: { readonly match: RegExpExecArray | null; readonly lines: string[] } | undefined
  for (const { line, opens, closes } of fencedLines(text.replace(/\r\n?/g, '\n'), codeFence)) {
    if (opens) block = { match: suggestion.exec(line), lines: [] }
    else if (!closes) block?.lines.push(line)
    else {
      const { match, lines } = block!
      if (match) found.push({ above: bounded(match[1]), below: bounded(match[2]), text: lines.map(ended).join('') })
      if (found.length === mostOfNote) return found
      block = undefined
    }
  }
  return found
}

const ended = (line: string): string => `${line}\n`
