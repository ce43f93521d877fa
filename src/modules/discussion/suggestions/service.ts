import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { Discussed } from '../noteables/noteable.ts'
import type { DiffLine } from '../positions/diff-lines.ts'
import type { Position } from '../positions/position.ts'
import { linesIn } from './lines.ts'
import { parseSuggestions, type Suggested } from './parse.ts'
import { deleteSuggestions, insertSuggestions, type NewSuggestion, suggestionsOfNote } from './queries.ts'

/** Maximum characters of the lines that the suggestions of one note replace: their records copy them. Further ones cannot be applied. */
export const mostReplaced = 256 * 1024

/**
 * The suggestions of a text at a position in a diff, for the lines of the file there. None at removed lines, in images, and in files that
 * are no text. Reads the file only if the text has suggestions.
 */
export async function suggestionsAt(
  ctx: Ctx,
  discussed: Discussed,
  position: Position | null,
  body: string,
): Promise<NewSuggestion[]> {
  if (!discussed.fileAt || position?.position_type !== 'text' || position.new_line === null) return []
  const suggested = parseSuggestions(body)
  if (suggested.length === 0) return []
  const file = await discussed.fileAt(ctx, position)
  if (!file) return []
  const { new_line: line } = position
  const lines = linesIn(file.text)
  let left = mostReplaced
  return suggested.flatMap((each) => {
    const made = suggestionFor(lines, line, each)
    left -= made?.fromContent.length ?? 0
    if (!made || left < 0) return []
    const shift = file.shiftOf(made.fromLine, made.toLine)
    return { ...made, shift: shift ?? 0, outdated: shift === undefined }
  })
}

function suggestionFor(
  lines: readonly string[],
  line: number,
  { above, below, text }: Suggested,
): Omit<NewSuggestion, 'shift' | 'outdated'> | undefined {
  const fromLine = Math.max(1, line - above)
  const toLine = Math.min(lines.length, line + below)
  // Positions of imported notes may be of no line.
  if (line < 1 || toLine < line) return undefined
  const fromContent = lines.slice(fromLine - 1, toLine).join('')
  return { fromLine, toLine, fromContent, toContent: endedAs(fromContent, text) }
}

/** New lines with the line breaks of those that they replace. */
function endedAs(before: string, text: string): string {
  const broken = before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text
  return before.endsWith('\n') ? broken : broken.replace(/\r?\n$/, '')
}

/** Replaces the suggestions of a note whose text has changed, unless they are the same as before. The noteable is locked. */
export async function replaceSuggestions(tx: Tx, noteId: number, now: readonly NewSuggestion[]): Promise<void> {
  const before = await suggestionsOfNote(tx, noteId)
  const isSame =
    before.length === now.length &&
    before.every(({ from_line, to_line, to_content }, index) => {
      const { fromLine, toLine, shift, toContent } = now[index]!
      return from_line === fromLine + shift && to_line === toLine + shift && to_content === toContent
    })
  if (isSame) return
  if (before.length > 0) await deleteSuggestions(tx, noteId)
  if (now.length > 0) await insertSuggestions(tx, noteId, now)
}

/** How far lines move by the hunks of a diff; undefined if it changes one of them, or adds lines between them. */
export function shiftBy(hunks: readonly DiffLine[], fromLine: number, toLine: number): number | undefined {
  let shift = 0
  for (const { kind, oldPosition: at } of hunks) {
    if (kind === 'old' && at >= fromLine && at <= toLine) return undefined
    if (kind === 'new' && at > fromLine && at <= toLine) return undefined
    if (kind === 'old' && at < fromLine) shift--
    if (kind === 'new' && at <= fromLine) shift++
  }
  return shift
}
