import { createHash } from 'node:crypto'
import type { Oid } from '../../../git/format/oid.ts'
import { shownPath } from '../../../git/format/text.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { type ChangedLine, linesOf, type TextPosition } from '../../discussion/index.ts'
import { patchesOf } from '../../review/index.ts'
import type { NoteRow } from './queries.ts'
import type { PayloadCtx } from './shown.ts'

/** A line of a diff; unknown positions are null. */
type Line = {
  readonly path: string
  readonly oldPosition: number | null
  readonly newPosition: number | null
  readonly kind: 'new' | 'old' | 'context'
  /** The diff that shows it; `base` is null for that against the parent. */
  readonly head: string
  readonly base: string | null
}

/** Compat: receivers know a line of a diff by the SHA-1 of the new path and its positions in the old and the new file. */
const codeOf = (path: string, oldPosition: number, newPosition: number): string =>
  `${createHash('sha1').update(path).digest('hex')}_${oldPosition}_${newPosition}`

function lineOf({ position, changed_line, commit_oid }: NoteRow): Line | undefined {
  if (position?.['position_type'] === 'text') {
    const { new_path, old_line, new_line, head_sha, base_sha } = position as unknown as TextPosition
    const kind = old_line === null ? 'new' : new_line === null ? 'old' : 'context'
    return { path: new_path, oldPosition: old_line, newPosition: new_line, kind, head: head_sha, base: base_sha }
  }
  if (changed_line === null || commit_oid === null) return undefined
  const { path, line, kind } = changed_line as ChangedLine
  return { path, oldPosition: null, newPosition: line, kind, head: commit_oid, base: null }
}

/**
 * The code of the line on which a note is; null if it is on none, or its diff no longer shows it. Of a changed line, whose position in the
 * other file is not stored, it costs what computing the diff costs.
 */
export async function lineCodeOf(ctx: PayloadCtx, repo: Repository, note: NoteRow): Promise<string | null> {
  const line = lineOf(note)
  if (!line) return null
  const { path, oldPosition, newPosition, kind } = line
  if (oldPosition !== null && newPosition !== null) return codeOf(path, oldPosition, newPosition)
  const head = line.head as Oid
  const base = (line.base as Oid | null) ?? (await readCommit(repo, head))?.parents[0] ?? null
  const { files } = await patchesOf(ctx, repo, { head, base })
  for (const { change, text } of files) {
    if (shownPath(change.newPath) !== path) continue
    const found = linesOf(text).find(
      (each) =>
        each.kind === kind &&
        (oldPosition === null || each.oldPosition === oldPosition) &&
        (newPosition === null || each.newPosition === newPosition),
    )
    if (found) return codeOf(path, found.oldPosition, found.newPosition)
  }
  return null
}
