import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { shownPath } from '../../../git/format/text.ts'
import type { Patches } from '../../../git/history/patch-reader.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { findLine, linesOf, type TextPosition, unresolvedPositions } from '../../discussion/index.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import type { Version } from '../merge-requests/version-queries.ts'
import { patchesOf } from '../merge-requests/versions.ts'
import { targetRepository } from './heads.ts'
import type { MergingRow } from './queries.ts'

/** Maximum earlier heads whose changes are compared: one diff each. */
const mostHeads = 20

/**
 * Unresolved discussions of lines that a new version changes or no longer shows. A diff that is too large to read counts as
 * unchanged. One diff of the version, and one from each head to which such a discussion refers.
 */
export async function outdatedDiscussions(ctx: Ctx, row: MergingRow, version: Version): Promise<string[]> {
  const { head, base } = version
  if (!head) return []
  const placed = await unresolvedPositions(ctx.db, asNoteable(row))
  const repo = targetRepository(ctx, row)
  const since = new Map<string, Patches>()
  for (const oid of new Set(placed.map(({ position }) => position.head_sha)))
    if (since.size < mostHeads && (await readCommit(repo, oid as Oid)))
      since.set(oid, await patchesOf(ctx, repo, { head, base: oid as Oid }))
  const shown = placed.length === 0 ? undefined : await patchesOf(ctx, repo, { head, base })
  return placed
    .filter(({ position }) => {
      const changes = since.get(position.head_sha)
      if (!changes || !shown) return false
      return position.new_line === null
        ? isComplete(shown, position) && !isShown(shown, position)
        : removes(changes, position.new_path, position.new_line)
    })
    .map(({ discussion_id }) => discussion_id)
}

/** Whether the diff removes the line of a position in the base. */
const isShown = ({ files }: Patches, { old_line, new_line: _none, ...rest }: TextPosition): boolean =>
  old_line === null || findLine(files, { ...rest, old_line }) !== undefined

/** The diff shows all files, and the text of this one, if it has changed. */
const isComplete = ({ files, overflow }: Patches, { old_path, new_path }: TextPosition): boolean =>
  !overflow &&
  files.every(
    ({ change, text }) =>
      text !== '' || (shownPath(change.oldPath) !== old_path && shownPath(change.newPath) !== new_path),
  )

/** Whether changes remove or replace a line. */
const removes = ({ files }: Patches, path: string, line: number): boolean =>
  files
    .filter(({ change }) => shownPath(change.oldPath) === path)
    .some(({ text }) => linesOf(text).some(({ kind, oldPosition }) => kind === 'old' && oldPosition === line))
