import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { openRepository } from '../../projects/index.ts'
import { type Heads, targetRepository } from './heads.ts'
import { moverBefore, moverTo } from './push-queries.ts'
import type { MergingRow } from './queries.ts'

/** What the branches say of an open merge request, whoever moved them and however often. */
export type Standing =
  /** The target has all of it; `head` is the last that it was. */
  | { readonly is: 'merged'; readonly head: Oid; readonly target: Oid }
  | { readonly is: 'without source' }
  /** The source moved, but its code may not be brought over now. */
  | { readonly is: 'withheld' }
  /** The source moved, or the target lost what it had. */
  | { readonly is: 'another version' }
  /** At most the target went on. */
  | { readonly is: 'as it was' }

/** The objects of both heads are in the target's repository. */
export async function standingOf(ctx: Ctx, row: MergingRow, { source, target, isWithheld }: Heads): Promise<Standing> {
  const repo = targetRepository(ctx, row)
  const head = source ?? row.head_oid
  if (
    head &&
    target &&
    row.commits > 0 &&
    (await contains(repo, target, head)) &&
    (await wasMerged(ctx, row, head, target))
  )
    return { is: 'merged', head, target }
  if (isWithheld) return { is: 'withheld' }
  if (!source) return { is: (await hasLostSource(ctx, row)) ? 'without source' : 'as it was' }
  if (source !== row.head_oid) return { is: 'another version' }
  if (!target || target === row.start_oid) return { is: 'as it was' }
  return { is: row.start_oid && (await contains(repo, target, row.start_oid)) ? 'as it was' : 'another version' }
}

/** What never had a source branch waits for it; a repository that is away, as a disk may be, has lost nothing. */
const hasLostSource = async (ctx: Ctx, { head_oid, source }: MergingRow): Promise<boolean> =>
  head_oid !== null && source !== null && openRepository(ctx, source).exists()

/** Whether a branch has a commit, which may be none of the repository's any more. */
const contains = async (repo: Repository, tip: Oid, commit: Oid): Promise<boolean> =>
  (await readCommit(repo, commit)) !== undefined && isAncestor(repo, commit, tip)

/**
 * Whether the target came to the head rather than the head to the target: a branch that was put back to where the target is has not
 * been merged.
 */
async function wasMerged(ctx: Ctx, row: MergingRow, head: Oid, target: Oid): Promise<boolean> {
  const repo = targetRepository(ctx, row)
  if (row.head_oid && (await contains(repo, target, row.head_oid))) return true
  const [sourceRef, targetRef] = [branchRef(row.source_branch), branchRef(row.target_branch)]
  const moved = row.source && sourceRef && (await moverTo(ctx.db, row.source.id, sourceRef, head))
  if (!moved || !targetRef) return false
  const before = (await moverBefore(ctx.db, row.project_id, targetRef, moved.push_id))?.to ?? row.start_oid
  return before !== null && !(await contains(repo, before, head))
}

/** Merges farther back than this are not looked for. */
const maxLine = 10_000

/**
 * The commit that brought a head into a branch: the first on its first parents' line to have it, unless that is the head itself.
 * `undefined`, too, when it was too long ago.
 */
export async function mergeCommitOf(repo: Repository, target: Oid, head: Oid): Promise<Oid | undefined> {
  const line = await listCommitIds(repo, { from: [target], firstParent: true }, { limit: maxLine })
  // Those that have it come before those that do not.
  let [has, hasNot] = [0, line.length]
  while (hasNot - has > 1) {
    const middle = Math.floor((has + hasNot) / 2)
    if (await isAncestor(repo, head, line[middle]!)) has = middle
    else hasNot = middle
  }
  const found = line[has]!
  return found === head || (hasNot === line.length && line.length === maxLine) ? undefined : found
}
