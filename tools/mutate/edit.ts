/** A replacement in a source file, with what a reader needs to recognise it: `a >= b → a > b`. */
export type Edit = {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly what: string
}

const maximumLength = 90

/** Source text in one line, shortened. */
export function brief(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > maximumLength ? `${line.slice(0, maximumLength - 1)}…` : line
}

/** Replaces a range; `within` is the source of the whole file. */
export const replacement = (within: string, start: number, end: number, text: string): Edit => ({
  start,
  end,
  text,
  what: `${brief(within.slice(start, end))} → ${brief(text)}`,
})

export const removal = (within: string, start: number, end: number, text = ''): Edit => ({
  start,
  end,
  text,
  what: `without ${brief(within.slice(start, end))}`,
})
