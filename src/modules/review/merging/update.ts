import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { readCommitsWithin, titleOf } from '../../../git/objects/commits.ts'
import { addSystemNote, finishTodos, resolveHeld, saveFollowed } from '../../discussion/index.ts'
import type { AttributeChanges } from '../../planning/index.ts'
import { emitMergeRequest } from '../merge-requests/events.ts'
import { saveMergeStatus, withheldStatus } from '../merge-requests/merge-status-queries.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { isDraft, shortened } from '../merge-requests/title.ts'
import type { Version } from '../merge-requests/version-queries.ts'
import { recordVersion, versionBetween } from '../merge-requests/versions.ts'
import { followSuggestions } from '../suggested-lines/follow.ts'
import { recordArrived } from '../suggestion-commits/settle.ts'
import { branchStateOf, mergeCommitOf } from './branch-state.ts'
import { emitEnd } from './events.ts'
import { bringHead, type Heads, readHeads, targetRepository } from './heads.ts'
import { outdatedDiscussions } from './outdated.ts'
import { lastMover } from './push-queries.ts'
import {
  commitsOfVersion,
  findMerging,
  forgetConsent,
  lockMerging,
  type MergingRow,
  markClosed,
  markMergedByHand,
} from './queries.ts'
import { settleMerge } from './settle.ts'

/** Maximum attempts while concurrent changes come first. */
const attempts = 3

/**
 * Updates a merge request from the current state of its branches: records a new version, closes it if the source is gone, marks it
 * as merged if the target contains it, and completes an interrupted merge or application of suggestions. Does nothing if it is up to
 * date. Source: supplement to the API documents, "Effects of pushes on MRs".
 */
export async function syncWithBranches(ctx: Ctx, id: number): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const row = await findMerging(ctx.db, id)
    if (row?.state === 'locked') return settleMerge(ctx, id, { release: false })
    if (row?.state !== 'opened') return
    const heads = await readHeads(ctx, row)
    if (heads.source) await bringHead(ctx, row, heads.source)
    const state = await branchStateOf(ctx, row, heads)
    if (state.is === 'unchanged') return
    await recordArrived(ctx, row.id, targetRepository(ctx, row), heads.source)
    if (state.is === 'withheld') return recordWithheld(ctx, row, heads)
    const done =
      state.is === 'merged'
        ? await becomeMerged(ctx, row, state)
        : state.is === 'source_missing'
          ? await becomeClosed(ctx, row, await pusherOf(ctx, row.source_project_id, row.source_branch))
          : await takeVersion(ctx, row, heads)
    if (done) return
  }
}

/** Leaves it unchanged, but not mergeable: each check runs again, since the author may regain access. */
async function recordWithheld(ctx: Ctx, row: MergingRow, heads: Heads): Promise<void> {
  if (row.merge_status === withheldStatus) return
  await unlessChanged(ctx, row, async (tx) => void (await saveMergeStatus(tx, row.id, withheldStatus, heads)))
}

/** What an update is computed from, besides the branches. */
const unchanging = ['state', 'diff_id', 'title', 'target_branch'] as const satisfies readonly (keyof MergingRow)[]

/** Runs `work` in a transaction, unless the merge request was changed concurrently. */
const unlessChanged = (ctx: Ctx, row: MergingRow, work: (tx: Tx) => Promise<void>): Promise<boolean> =>
  ctx.transaction(async (tx) => {
    const now = await lockMerging(tx, row.id)
    if (!now || unchanging.some((name) => now[name] !== row[name])) return false
    await work(tx)
    return true
  })

/** The user who last moved a branch, if known. */
async function pusherOf(ctx: Ctx, projectId: number | null, branch: string): Promise<number | null> {
  const ref = branchRef(branch)
  return (projectId !== null && ref && (await lastMover(ctx.db, projectId, ref))?.actor_id) || null
}

async function becomeMerged(
  ctx: Ctx,
  row: MergingRow,
  { head, target }: { readonly head: Oid; readonly target: Oid },
): Promise<boolean> {
  const repo = targetRepository(ctx, row)
  const last = head === row.head_oid ? undefined : await versionBetween(ctx, repo, head, row.start_oid)
  const mergeCommit = await mergeCommitOf(repo, target, head)
  const actorId = await pusherOf(ctx, row.project_id, row.target_branch)
  return unlessChanged(ctx, row, async (tx) => {
    if (last) await recordVersion(tx, repo, row, last)
    await markMergedByHand(tx, row.id, { actorId, mergeCommit })
    await emitEnd(tx, row, 'merge_request_merged', actorId)
  })
}

/** Closes it because its source branch or project is gone, or the project has left the fork network. False if it was changed concurrently. */
export const becomeClosed = (ctx: Ctx, row: MergingRow, actorId: number | null): Promise<boolean> =>
  unlessChanged(ctx, row, async (tx) => {
    await markClosed(tx, row.id, actorId)
    await emitEnd(tx, row, 'merge_request_closed', actorId)
  })

async function takeVersion(ctx: Ctx, row: MergingRow, { source, target }: Heads): Promise<boolean> {
  const repo = targetRepository(ctx, row)
  const version = await versionBetween(ctx, repo, source ?? null, target ?? null)
  if (source === row.head_oid)
    return unlessChanged(ctx, row, async (tx) => void (await recordVersion(tx, repo, row, version)))
  const actorId = await pusherOf(ctx, row.source_project_id, row.source_branch)
  const added = await addedCommits(ctx, row, version)
  const outdated = row.target.resolves_outdated ? await outdatedDiscussions(ctx, row, version) : []
  const follows = await followSuggestions(ctx, repo, row.id, version.head)
  return unlessChanged(ctx, row, async (tx) => {
    await recordVersion(tx, repo, row, version)
    if (follows.length > 0) await saveFollowed(tx, follows)
    await emitPushed(tx, row, actorId, added)
    for (const discussionId of outdated)
      await resolveHeld(tx, { ...asNoteable(row), iid: row.iid }, { discussionId }, actorId ?? row.author_id)
  })
}

/** Maximum characters of messages of commits that a push added, in total. */
const maxMessageCharacters = 32 * 1024 * 1024

/** The number of commits, and as many of them as fit. */
type Added = { readonly count: number; readonly commits: readonly { readonly oid: Oid; readonly title: string }[] }

/** The commits of a version that the previous one did not have, oldest first. */
async function addedCommits(ctx: Ctx, row: MergingRow, { commits }: Version): Promise<Added> {
  const known = await commitsOfVersion(ctx.db, row.diff_id)
  const added = commits.filter((oid) => !known.has(oid)).toReversed()
  const { commits: found } = await readCommitsWithin(targetRepository(ctx, row), added, maxMessageCharacters)
  return { count: added.length, commits: found.map(({ oid, message }) => ({ oid, title: titleOf(message) })) }
}

/** Maximum commits that are listed; beyond it, only their number. */
const named = 100

const commitsNote = ({ count, commits }: Added): string =>
  [
    `added ${count} ${count === 1 ? 'commit' : 'commits'}`,
    '',
    ...commits.slice(0, named).map(({ oid, title }) => `* ${oid.slice(0, 8)} - ${title}`),
  ].join('\n')

/** Consequences of a push to the source branch, besides a new version. */
async function emitPushed(tx: Tx, row: MergingRow, actorId: number | null, added: Added): Promise<void> {
  const noteable = asNoteable(row)
  const note = (text: string) => addSystemNote(tx, noteable, actorId ?? row.author_id, text)
  const isUnfinished = !isDraft(row.title) && added.commits.some(({ title }) => /^(fixup|squash)! /.test(title))
  const title = isUnfinished ? shortened(`WIP: ${row.title}`) : row.title
  await forgetConsent(tx, row.id, title)
  if (added.count > 0) await note(commitsNote(added))
  if (isUnfinished) await note('marked as a **Work In Progress**')
  if (row.auto_merge_oid) await note('aborted the automatic merge because source branch was updated')
  if (actorId !== null) await finishTodos(tx, actorId, noteable)
  const changes: AttributeChanges = {
    ...(isUnfinished && { title: [row.title, title] }),
    ...(row.auto_merge_oid && { merge_when_pipeline_succeeds: [true, false] }),
  }
  await emitMergeRequest(tx, row.id, {
    kind: 'merge_request_updated',
    actorId,
    changes,
    ...(row.head_oid && { oldHead: row.head_oid }),
  })
}
