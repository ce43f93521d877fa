import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { shownPath } from '../../../git/format/text.ts'
import type { Patches } from '../../../git/history/patch-reader.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { linesOf, shiftBy, unresolvedPositions } from '../../discussion/index.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import type { Version } from '../merge-requests/version-queries.ts'
import { patchesOf } from '../merge-requests/versions.ts'
import { targetRepository } from './heads.ts'
import type { MergingRow } from './queries.ts'

/** Maximum earlier heads, and earlier merge bases, whose changes are compared: one diff each. */
const mostEnds = 20

/**
 * Unresolved discussions of lines that a new version changes or no longer shows. A diff that is too large to read counts as
 * unchanged. One diff of the version, and one from each head and merge base to which such a discussion refers.
 */
export async function outdatedDiscussions(ctx: Ctx, row: MergingRow, version: Version): Promise<string[]> {
  const { head, base } = version
  if (!head) return []
  const placed = await unresolvedPositions(ctx.db, asNoteable(row))
  const repo = targetRepository(ctx, row)
  const changesTo = async (now: Oid | null, ends: readonly string[]): Promise<ReadonlyMap<string, Patches>> => {
    const since = new Map<string, Patches>()
    for (const oid of new Set(ends))
      if (now !== null && since.size < mostEnds && (await readCommit(repo, oid as Oid)))
        since.set(oid, await patchesOf(ctx, repo, { head: now, base: oid as Oid }))
    return since
  }
  const [removed, others] = [placed.filter(isOfRemovedLine), placed.filter((each) => !isOfRemovedLine(each))]
  const sinceHead = await changesTo(
    head,
    others.map(({ position }) => position.head_sha),
  )
  const sinceBase = await changesTo(
    base,
    removed.map(({ position }) => position.base_sha),
  )
  const shown = removed.length === 0 ? undefined : await patchesOf(ctx, repo, { head, base })
  const isOutdated = ({ position }: Placed): boolean => {
    const changes = sinceHead.get(position.head_sha)
    return changes !== undefined && removes(changes, position.new_path, position.new_line)
  }
  const isRemovedNoMore = ({ position }: Placed): boolean => {
    const changes = sinceBase.get(position.base_sha)
    const now = changes && placeIn(changes, position.old_path, position.old_line!)
    if (now === undefined || now === 'gone') return now === 'gone'
    return isComplete(shown!, now.path) && !removes(shown!, now.path, now.line)
  }
  return [...removed.filter(isRemovedNoMore), ...others.filter(isOutdated)].map(({ discussion_id }) => discussion_id)
}

type Placed = Awaited<ReturnType<typeof unresolvedPositions>>[number]

const isOfRemovedLine = ({ position }: Placed): boolean => position.new_line === null && position.old_line !== null

/** Where a line of a merge base is after these changes; undefined if they do not show that. */
function placeIn(
  { files, overflow }: Patches,
  path: string,
  line: number,
): { readonly path: string; readonly line: number } | 'gone' | undefined {
  const changed = files.filter(({ change }) => shownPath(change.oldPath) === path)
  const [file] = changed
  if (!file) return overflow ? undefined : { path, line }
  const { change, text } = file
  if (changed.length > 1 || (!text.startsWith('@@') && change.oldOid !== change.newOid)) return undefined
  const shift = shiftBy(linesOf(text), line, line)
  return shift === undefined ? 'gone' : { path: shownPath(change.newPath), line: line + shift }
}

/** The diff shows all files, and the text of this one, if it has changed. */
const isComplete = ({ files, overflow }: Patches, path: string): boolean =>
  !overflow && files.every(({ change, text }) => text !== '' || shownPath(change.oldPath) !== path)

/** Whether changes remove or replace a line. */
const removes = ({ files }: Patches, path: string, line: number | null): boolean =>
  files
    .filter(({ change }) => shownPath(change.oldPath) === path)
    .some(({ text }) => linesOf(text).some(({ kind, oldPosition }) => kind === 'old' && oldPosition === line))
