import { fencedLines } from '../../../kernel/fences.ts'

/** A line of a text that asks for a change instead of saying something: `/label ~bug`. */
export type QuickAction = {
  /** In lower case, without the slash. */
  readonly name: string
  /** What follows the name, trimmed; empty if nothing does. */
  readonly argument: string
}

export type Parsed = {
  /** The text without these lines, trimmed if there were any. */
  readonly text: string
  readonly actions: readonly QuickAction[]
}

/** Maximum quick actions of one text; further lines stay text. */
const maxActions = 100

/** Code and quotes. */
const fence = /^ {0,3}(`{3,}|~{3,}|>>>)/
const command = /^\/([a-z_]{1,40})(?:[ \t](.*))?$/is

/** Actions that stand for text: `/shrug text` is replaced by the text and the picture. */
const pictures: Readonly<Record<string, string>> = {
  shrug: '¯\\_(ツ)_/¯',
  tableflip: '(╯°□°)╯︵ ┻━┻',
}

/**
 * Finds the quick actions of a text: lines that begin with a slash and one of the known names, outside of fenced code and fenced
 * quotes. Takes linear time.
 */
export function parseQuickActions(text: string, known: ReadonlySet<string>): Parsed {
  if (!text.includes('/')) return { text, actions: [] }
  const actions: QuickAction[] = []
  const lines: string[] = []
  let isChanged = false
  for (const { line, fenced } of fencedLines(text.replaceAll('\r\n', '\n'), fence)) {
    const [, found, rest = ''] = (!fenced && command.exec(line)) || []
    const name = found?.toLowerCase()
    if (name !== undefined && Object.hasOwn(pictures, name)) {
      lines.push(`${rest.trim()} ${pictures[name]}`.trim())
      isChanged = true
    } else if (name !== undefined && known.has(name) && actions.length < maxActions)
      actions.push({ name, argument: rest.trim() })
    else lines.push(line)
  }
  return actions.length === 0 && !isChanged ? { text, actions } : { text: lines.join('\n').trim(), actions }
}
