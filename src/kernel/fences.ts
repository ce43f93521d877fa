/** Begins and ends a block of code in Markdown. */
export const codeFence = /^ {0,3}(```|~~~)/

export type FencedLine = {
  readonly line: string
  /** Part of a block, with the lines that begin and end it. */
  readonly fenced: boolean
  /** Begins a block. */
  readonly opens: boolean
}

/** The lines of a text, with the blocks between two equal marks of `fence`; one that is not ended reaches to the end of the text. */
export function fencedLines(text: string, fence: RegExp): FencedLine[] {
  let open: string | undefined
  return text.split('\n').map((line) => {
    const mark = fence.exec(line)?.[1]
    const opens = open === undefined && mark !== undefined
    const fenced = opens || open !== undefined
    if (opens) open = mark
    else if (mark === open) open = undefined
    return { line, fenced, opens }
  })
}
