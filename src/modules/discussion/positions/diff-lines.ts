/** A line of a diff. Positions count from 1; on the side that lacks the line, the position where it would be. */
export type DiffLine = {
  readonly kind: 'new' | 'old' | 'context'
  readonly oldPosition: number
  readonly newPosition: number
}

const kinds: Readonly<Record<string, DiffLine['kind']>> = { '+': 'new', '-': 'old', ' ': 'context' }

/** The lines in hunks. */
export function linesOf(hunks: string): DiffLine[] {
  const lines: DiffLine[] = []
  let oldPosition = 0
  let newPosition = 0
  for (const text of hunks.split('\n')) {
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text)
    if (start) {
      oldPosition = Number(start[1])
      newPosition = Number(start[2])
      continue
    }
    const kind = kinds[text.charAt(0)]
    if (!kind) continue
    lines.push({ kind, oldPosition, newPosition })
    if (kind !== 'new') oldPosition++
    if (kind !== 'old') newPosition++
  }
  return lines
}

/** A line that a diff changes. */
export type ChangedLine = {
  /** Path after the change. */
  readonly path: string
  /** Position in the new file; for a removed line, of the line that follows it there. */
  readonly line: number
  readonly kind: 'new' | 'old'
}
