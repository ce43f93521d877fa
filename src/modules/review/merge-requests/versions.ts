import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emptyTreeOid, type Oid } from '../../../git/format/oid.ts'
import { branchRef, type RefName } from '../../../git/format/ref-name.ts'
import { isAncestor, mergeBase } from '../../../git/history/ancestry.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import type { Patches } from '../../../git/history/patch-reader.ts'
import { completeLimits, patchesBetweenTrees } from '../../../git/history/patches.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { listRefs, readRef } from '../../../git/refs/refs.ts'
import { type RefUpdate, updateRefs } from '../../../git/refs/update-refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { fetchCommit } from '../../../git/transfer/fetch.ts'
import { openForWriting, openRepository, type Located as Stored } from '../../projects/index.ts'
import { diffLimits } from '../../repository/index.ts'
import { committersOf } from './committers.ts'
import { insertVersion, newestHeads, type Version } from './version-queries.ts'

/** The part of a project that concerns its repository. */
type Located = Stored & { readonly default_branch: string | null }

/** Source and target of a merge request. The source is null if its project is deleted. */
export type Branches = {
  readonly target: Located
  readonly targetBranch: string
  readonly source: Located | null
  readonly sourceBranch: string
}

/** Maximum commits that a version lists; the newest ones. */
const maxCommits = 10_000

/** The ref of a merge request's head; every reader may fetch it. */
export const headRef = (iid: number): RefName => `refs/merge-requests/${iid}/head` as RefName

/** The refs, hidden from clients, of heads that a merge request had before forced pushes. */
const keepAroundRefs = (iid: number): string => `refs/keep-around/${iid}/`

/** Deletes the refs of a merge request. Objects that nothing else refers to are garbage-collected. */
export async function dropRefs(repo: Repository, iid: number): Promise<void> {
  const refs = await listRefs(repo, [`refs/merge-requests/${iid}/`, keepAroundRefs(iid)])
  await updateRefs(
    repo,
    refs.map(({ name }) => ({ name, to: null })),
  )
}

/** The commit of a branch; `undefined` if the branch does not exist. */
const tipOf = async (repo: Repository, branch: string): Promise<Oid | undefined> => {
  const ref = branchRef(branch)
  const oid = ref && (await readRef(repo, ref))
  return oid && (await readCommit(repo, oid))?.oid
}

/**
 * Computes the current version: heads of both branches, commits and merge base. Fetches missing objects from the source to the
 * target's repository. Call it before the transaction that records it: it costs a history walk and a `diff-tree`.
 */
export async function findVersion(ctx: Ctx, branches: Branches): Promise<Version> {
  const { source, target } = branches
  const from = source && openRepository(ctx, source)
  const head = from ? await tipOf(from, branches.sourceBranch) : undefined
  const isFork = source !== null && source.id !== target.id
  const repo = isFork && head ? await openForWriting(ctx, target) : openRepository(ctx, target)
  if (isFork && head) await fetchCommit(repo, from!, head)
  const start = await tipOf(repo, branches.targetBranch)
  return versionBetween(ctx, repo, head ?? null, start ?? null)
}

/** Computes the version of two commits in the target's repository; null if a branch is missing. */
export async function versionBetween(
  ctx: Ctx,
  repo: Repository,
  head: Oid | null,
  start: Oid | null,
): Promise<Version> {
  const empty = {
    head,
    start,
    base: null,
    state: 'empty',
    files: 0,
    overflow: false,
    commits: [],
    committers: [],
  } as const
  if (!head || !start) return empty
  const base = (await mergeBase(repo, start, head)) ?? null
  const commits = await listCommitIds(repo, { from: [head], excluding: [start] }, { limit: maxCommits })
  const { files, overflow } = await patchesOf(ctx, repo, { head, base })
  const state = overflow ? 'overflow' : files.length === 0 ? 'empty' : 'collected'
  return {
    head,
    start,
    base,
    state,
    files: files.length,
    overflow,
    commits,
    committers: await committersOf(ctx, repo, commits),
  }
}

/**
 * Changes of a version since the merge base, or all files if the histories are unrelated: complete, or as much as is shown. One
 * `diff-tree` the first time.
 */
export async function patchesOf(
  ctx: Pick<Ctx, 'settings'>,
  repo: Repository,
  { head, base }: { readonly head: Oid; readonly base: Oid | null },
  { whole = false } = {},
): Promise<Patches> {
  const [old, now] = await Promise.all([base && readCommit(repo, base), readCommit(repo, head)])
  const limits = diffLimits(ctx.settings)
  return patchesBetweenTrees(
    repo,
    old?.tree ?? emptyTreeOid,
    now?.tree ?? emptyTreeOid,
    whole ? { ...limits, ...completeLimits } : limits,
    { wide: whole },
  )
}

/**
 * Records a version if its heads differ from those of the newest. First adds refs to the target that protect its commits from
 * garbage collection, and those of the previous version if they would be lost. The row of the merge request is locked. Resolves to
 * whether a version was recorded.
 *
 * The refs remain if the transaction fails. They are not removed then, because the number may belong to another merge request by that
 * time. They do no harm: what a merge request has is read from its row, the head is set again by the next version of that number, and the
 * commits are those that a user who may create or change merge requests here offered to the readers of this repository.
 */
export async function recordVersion(
  tx: Tx,
  repo: Repository,
  mergeRequest: { readonly id: number; readonly iid: number },
  version: Version,
): Promise<boolean> {
  const before = await newestHeads(tx, mergeRequest.id)
  if (before && before.head_oid === version.head && before.start_oid === version.start) return false
  const { head } = version
  if (head) {
    const { iid } = mergeRequest
    const lost = before?.head_oid && !(await isAncestor(repo, before.head_oid, head)) ? [before.head_oid] : []
    await updateRefs(repo, [
      { name: headRef(iid), to: head },
      ...lost.map((oid): RefUpdate => ({ name: `${keepAroundRefs(iid)}${oid}` as RefName, to: oid })),
    ])
  }
  await insertVersion(tx, mergeRequest.id, version)
  return true
}
