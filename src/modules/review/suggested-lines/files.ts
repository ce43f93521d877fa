import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { shownPath } from '../../../git/format/text.ts'
import type { Patches } from '../../../git/history/patch-reader.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { findEntry, symbolicLink } from '../../../git/objects/trees.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { storable } from '../../../kernel/storable.ts'
import { type FileAt, linesOf, shiftBy, type TextPosition } from '../../discussion/index.ts'
import { openRepository } from '../../projects/index.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { patchesOf } from '../merge-requests/versions.ts'

/** Maximum bytes of a file whose lines can be replaced by a suggestion. */
const mostBytes = 1024 * 1024

/** How far lines of a file move from one head to another; undefined if they change. */
export type ShiftOf = (path: string, fromLine: number, toLine: number) => number | undefined

/** A diff that does not show all of a file says nothing about its lines: they count as changed. A renamed file does, too. */
function shiftsOf({ files, overflow }: Patches): ShiftOf {
  return (path, fromLine, toLine) => {
    const changed = files.filter(({ change }) => shownPath(change.oldPath) === path)
    if (changed.length === 0) return overflow ? undefined : 0
    const [file] = changed
    if (changed.length > 1 || shownPath(file!.change.newPath) !== path || file!.tooLarge) return undefined
    // A diff of binary content has no hunks.
    if (!file!.text.startsWith('@@') && file!.change.oldOid !== file!.change.newOid) return undefined
    return shiftBy(linesOf(file!.text), fromLine, toLine)
  }
}

/** How lines moved between two heads. One diff; everything counts as changed if the repository lacks the earlier head. */
export async function shiftsBetween(ctx: Ctx, repo: Repository, before: Oid, now: Oid | null): Promise<ShiftOf> {
  if (before === now) return () => 0
  if (now === null || !(await readCommit(repo, before))) return () => undefined
  return shiftsOf(await patchesOf(ctx, repo, { head: now, base: before }))
}

const isPointer = (content: Buffer): boolean =>
  content.subarray(0, 50).toString('latin1').startsWith('version https://git-lfs')

/** The file at a position of a diff; undefined if it is no text, too large, or a pointer to a large file. */
export async function fileAt(
  ctx: Ctx,
  { project, head_oid }: MergeRequestSubject,
  { head_sha, new_path }: TextPosition,
): Promise<FileAt | undefined> {
  const repo = openRepository(ctx, project)
  const head = head_sha as Oid
  const entry = await findEntry(repo, head, new_path)
  if (entry?.type !== 'blob' || entry.mode === symbolicLink || (entry.sizeBytes ?? Infinity) > mostBytes)
    return undefined
  const content = (await readBlob(repo, entry.oid))?.content
  if (!content || content.includes(0) || isPointer(content)) return undefined
  const shiftOf = await shiftsBetween(ctx, repo, head, head_oid)
  return {
    text: storable(content.toString('utf8')),
    shiftOf: (fromLine, toLine) => shiftOf(new_path, fromLine, toLine),
  }
}
