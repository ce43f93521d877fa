import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { EventPlace, NewEvent } from '../../../events/catalogue.ts'
import { type Reaction, toEvents } from '../../../events/reaction.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { enqueueEach, enqueueWhere, job } from '../../../jobs/job.ts'
import { eachByItself } from '../../../kernel/each-by-itself.ts'
import { Failure } from '../../../kernel/failure.ts'
import { asAccount } from '../../accounts/index.ts'
import { findNewestPipeline, isPassing } from '../../ci/index.ts'
import type { ProjectSettings } from '../../projects/index.ts'
import { loadMergeRequest } from '../merge-requests/subject.ts'
import { merge } from './merge-service.ts'
import { headPipeline } from './mergeable.ts'
import { awaiting, findMerging } from './queries.ts'
import { type AwaitedRow, heldAfterPipeline, isAwaited, waitingAmong, waitingInto } from './waiting-queries.ts'

/**
 * Merges the merge requests that wait for a pipeline of this commit, which is in the source project. Each is merged for the user who
 * enabled its automatic merge, if they are still allowed to merge. One that cannot be merged now keeps waiting. A failure of one does
 * not stop the others.
 */
export const mergeAwaited = job({
  name: 'merge_when_pipeline_succeeds',
  input: Type.Object({ projectId: Type.Integer(), sha: Type.String() }),
  key: ({ projectId, sha }) => `merge_when_pipeline_succeeds:${projectId}:${sha}`,
  attempts: 5,
  async run({ projectId, sha }, ctx) {
    await eachByItself(await awaiting(ctx.db, projectId, sha as Oid), (id) => mergeOne(ctx, id))
  },
})

/** Queues `mergeAwaited` if a merge request waits for this commit. One statement. */
const mergeLater = (tx: Tx, projectId: number, sha: Oid): Promise<number> =>
  enqueueWhere(tx, mergeAwaited, { projectId, sha }, isAwaited(projectId, sha))

export const mergeWhenPipelineSucceeds: Reaction<'pipeline_changed'> = async (tx, { projectId, payload }) => {
  if (payload.status === 'success') await mergeLater(tx, projectId, payload.sha)
}

/** The pipeline may have succeeded before the automatic merge was enabled. */
export const mergeIfPipelineSucceeded: Reaction<'merge_request_auto_merge_enabled'> = async (
  tx,
  { payload, facts },
) => {
  const { source_project_id: projectId, source_branch } = facts
  const pipeline = await findNewestPipeline(tx, projectId, payload.sha, source_branch)
  if (pipeline && isPassing(pipeline.status)) await mergeLater(tx, projectId, payload.sha)
}

/** Queues it for each of these commits, which are in one order, so that concurrent transactions do not deadlock. One statement. */
async function mergeEach(tx: Tx, awaited: readonly AwaitedRow[]): Promise<void> {
  if (awaited.length === 0) return
  const inputs = awaited.map(({ source_project_id: projectId, sha }) => ({ projectId, sha }))
  await enqueueEach(tx, mergeAwaited, inputs)
}

/** Queues it for what merge requests wait for, if they wait. */
async function mergeIfWaiting(
  tx: Tx,
  mergeRequestIds: readonly number[],
  how: { readonly settled?: boolean } = {},
): Promise<void> {
  if (mergeRequestIds.length > 0) await mergeEach(tx, await waitingAmong(tx, mergeRequestIds, how))
}

/** Merges what waited only for its last discussion to be resolved or deleted. */
export const mergeWhenDiscussionsAreResolved = toEvents<NewEvent<'discussion_resolved' | 'note_deleted'>>(
  (tx, events) =>
    mergeIfWaiting(
      tx,
      events.flatMap(({ payload }) => (payload.noteable_type === 'MergeRequest' ? payload.noteable_id! : [])),
      { settled: true },
    ),
)

/** Merges what waited only for its last approval. */
export const mergeWhenApproved: Reaction<'merge_request_approved'> = (tx, { payload }) =>
  mergeIfWaiting(tx, [payload.merge_request_id])

/** Merges what waited only because it was a draft, or for approvals that it does not need any more. */
export const mergeWhenReady: Reaction<'merge_request_updated'> = async (
  tx,
  { payload: { merge_request_id, changes } },
) => {
  if (changes?.['title'] || changes?.['approvals_before_merge']) await mergeIfWaiting(tx, [merge_request_id])
}

/** Queues it for all that merge requests into projects, or into projects of groups, wait for. */
async function mergeAllWaiting(tx: Tx, places: readonly EventPlace[]): Promise<void> {
  const projectIds = [...new Set(places.flatMap(({ projectId }) => projectId ?? []))]
  const groupIds = [...new Set(places.flatMap(({ groupId }) => groupId ?? []))]
  if (projectIds.length + groupIds.length > 0) await mergeEach(tx, await waitingInto(tx, { projectIds, groupIds }))
}

/**
 * Merges what waited only for approvals that rules do not demand any more. A new rule may replace one that demands those of other users.
 */
export const mergeWhenRulesDemandLess = toEvents<
  NewEvent<'approval_rule_created' | 'approval_rule_updated' | 'approval_rule_deleted'>
>(async (tx, events) => {
  await mergeIfWaiting(
    tx,
    events.flatMap(({ payload }) => payload.merge_request_id ?? []),
  )
  await mergeAllWaiting(
    tx,
    events.filter(({ payload }) => payload.merge_request_id === undefined),
  )
})

/** Settings of projects that can keep merge requests from being merged. */
const demanding: ReadonlySet<string> = new Set([
  'approvals_before_merge',
  'merge_method',
  'only_allow_merge_if_all_discussions_are_resolved',
] satisfies (keyof ProjectSettings)[])

/** Merges what waited only because of settings of the project. */
export const mergeWhenSettingsDemandLess: Reaction<'project_updated'> = async (tx, { projectId, payload }) => {
  if (payload.changed.some((name) => demanding.has(name))) await mergeAllWaiting(tx, [{ projectId }])
}

/**
 * Merges what waited only because the project was archived, because protection did not let the user merge, or for approvals that
 * protection or settings for them demanded. With several protections, the one that allows most decides.
 */
export const mergeWhenProjectAllows = toEvents<{ readonly projectId: number }>(mergeAllWaiting)

/**
 * Tries again what still waits although its pipeline has passed. Much can keep a merge request from being merged and end without an event
 * about it: a conflict, the role or the state of the user, access to the project, the group above it, or who is in a group that approves.
 */
export const retryAwaited = job({
  name: 'retry_automatic_merges',
  input: Type.Object({}),
  key: () => 'retry_automatic_merges',
  attempts: 3,
  every: { cron: '*/5 * * * *', input: {} },
  async run(_input, ctx) {
    const held = await heldAfterPipeline(ctx.db)
    if (held.length === 0) return
    await ctx.transaction((tx) => mergeEach(tx, held))
  },
})

async function mergeOne(ctx: Ctx, id: number): Promise<void> {
  const row = await findMerging(ctx.db, id)
  const asker = row?.auto_merge_user_id ? await asAccount(ctx, row.auto_merge_user_id) : undefined
  if (!row?.auto_merge_oid || !asker) return
  const pipeline = await headPipeline(ctx, row)
  if (!pipeline || !isPassing(pipeline.status)) return
  try {
    const subject = await loadMergeRequest({ id: String(row.project_id), merge_request_iid: row.iid }, asker)
    if (!subject) return
    await merge(asker, subject, {
      ...row.auto_merge_options,
      sha: row.auto_merge_oid,
      merge_when_pipeline_succeeds: false,
    })
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === 'unavailable') throw error
  }
}
