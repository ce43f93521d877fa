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

/** State of an open merge request as its branches show it, independent of who moved them and how often. */
export type BranchState =
  /** The target contains all of it; `head` is its last head. */
  | { readonly is: 'merged'; readonly head: Oid; readonly target: Oid }
  | { readonly is: 'source_missing' }
  /** The source moved, but its code must not be fetched now. */
  | { readonly is: 'withheld' }
  /** The source moved, or the target lost commits. */
  | { readonly is: 'changed' }
  /** At most the target moved forward. */
  | { readonly is: 'unchanged' }

/** The objects of both heads are in the target's repository. */
export async function branchStateOf(
  ctx: Ctx,
  row: MergingRow,
  { source, target, isWithheld }: Heads,
): Promise<BranchState> {
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
  if (!source) return { is: (await hasLostSource(ctx, row)) ? 'source_missing' : 'unchanged' }
  if (source !== row.head_oid) return { is: 'changed' }
  if (!target || target === row.start_oid) return { is: 'unchanged' }
  return { is: row.start_oid && (await contains(repo, target, row.start_oid)) ? 'unchanged' : 'changed' }
}

/** A merge request that never had a source branch waits for it. An unavailable repository, as on a missing disk, has lost nothing. */
const hasLostSource = async (ctx: Ctx, { head_oid, source }: MergingRow): Promise<boolean> =>
  head_oid !== null && source !== null && openRepository(ctx, source).exists()

/** Whether a branch contains a commit, which may no longer exist in the repository. */
const contains = async (repo: Repository, tip: Oid, commit: Oid): Promise<boolean> =>
  (await readCommit(repo, commit)) !== undefined && isAncestor(repo, commit, tip)

/**
 * Whether the target moved to the head, rather than the head to the target: a source branch reset to the target has not been
 * merged.
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

/** Maximum commits to walk back in search of a merge. */
const maxLine = 10_000

/**
 * The commit that merged a head into a branch: the first on its first-parent line that contains it, unless that is the head itself.
 * `undefined` also if it is too far back.
 */
export async function mergeCommitOf(repo: Repository, target: Oid, head: Oid): Promise<Oid | undefined> {
  const line = await listCommitIds(repo, { from: [target], firstParent: true }, { limit: maxLine })
  // Commits that contain it come before those that do not.
  let [has, hasNot] = [0, line.length]
  while (hasNot - has > 1) {
    const middle = Math.floor((has + hasNot) / 2)
    if (await isAncestor(repo, head, line[middle]!)) has = middle
    else hasNot = middle
  }
  const found = line[has]!
  return found === head || (hasNot === line.length && line.length === maxLine) ? undefined : found
}
