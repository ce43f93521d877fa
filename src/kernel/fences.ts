/** Begins and ends a block of code in Markdown, with its mark. */
export const codeFence = /^ {0,3}(`{3,}|~{3,})/

export type FencedLine = {
  readonly line: string
  /** Part of a block, with the lines that begin and end it. */
  readonly fenced: boolean
  /** Begins a block. */
  readonly opens: boolean
  /** Ends a block. */
  readonly closes: boolean
}

/**
 * The lines of a text. A block begins with a line that `fence` matches, and ends with one that has nothing but the same mark, which may be
 * longer; one that is not ended reaches to the end of the text. Backquotes after a mark of backquotes make a code span of it.
 */
export function fencedLines(text: string, fence: RegExp): FencedLine[] {
  let open: string | undefined
  return text.split('\n').map((line) => {
    const [whole = '', mark] = fence.exec(line) ?? []
    const rest = line.slice(whole.length)
    const opens = open === undefined && mark !== undefined && !(mark.startsWith('`') && rest.includes('`'))
    const closes = open !== undefined && mark?.startsWith(open) === true && rest.trim() === ''
    const fenced = opens || open !== undefined
    if (opens) open = mark
    else if (closes) open = undefined
    return { line, fenced, opens, closes }
  })
}
