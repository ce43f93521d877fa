import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { DatabaseLost } from '../../../db/connection-errors.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { rebaseCommits } from '../../../git/merge/rebase.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { RunnerLost } from '../../../git/runner/client.ts'
import { wasKilled } from '../../../git/runner/damage.ts'
import { fetchCommit } from '../../../git/transfer/fetch.ts'
import { enqueue, job, retryFailed, takeFailed } from '../../../jobs/job.ts'
import { longJobLimits } from '../../../jobs/limits.ts'
import { conflict, forbidden } from '../../../kernel/failure.ts'
import { asAccount, callerSignature } from '../../accounts/index.ts'
import { loadProject, openRepository, type ProjectSubject } from '../../projects/index.ts'
import { mayPushToBranch, moveRefs } from '../../pushes/index.ts'
import { readsCode } from '../merge-requests/source-access.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { readHeads, targetRepository } from './heads.ts'
import { notMergeable } from './mergeable.ts'
import { beginRebase, endRebase, findMerging, type MergingRow } from './queries.ts'
import { syncWithBranches } from './update.ts'

/** The source project, if the caller may push to the source branch and read the target's code, which the rebase copies there. */
async function pushableSource(ctx: Ctx, row: MergingRow): Promise<ProjectSubject | undefined> {
  const project = row.source ? await loadProject(String(row.source.id), ctx) : undefined
  const mayPush = project && (await mayPushToBranch(ctx, project, row.source_branch))
  const mayRead = mayPush && (project.id === row.project_id || (await readsCode(ctx, row.project_id)))
  return mayRead ? project : undefined
}

/**
 * Queues a rebase of the source branch for the caller, who must be allowed to push to it. Fails while another rebase is in
 * progress.
 */
export async function requestRebase(ctx: Ctx, subject: MergeRequestSubject): Promise<void> {
  const row = await findMerging(ctx.db, subject.id)
  if (row?.state !== 'opened') throw notMergeable()
  if (!(await readHeads(ctx, row)).source) throw forbidden('Source branch does not exist')
  if (!(await pushableSource(ctx, row))) throw forbidden('Cannot push to source branch')
  const input = { mergeRequestId: row.id, actorId: ctx.actor!.id }
  const begun = await ctx.transaction(async (tx) => {
    const begins = await beginRebase(tx, row.id)
    await tx.requirePermission?.()
    if (begins) return enqueue(tx, rebaseSource, input)
    // One that was interrupted at every attempt ends within a minute, and is tried again if it is requested before.
    await retryFailed(tx, rebaseSource, input)
    return 0
  })
  if (begun === 0) throw conflict('A rebase of this merge request is under way')
}

const failed = 'Rebase failed. Please rebase locally'

export const rebaseSource = job({
  name: 'rebase_source',
  slow: true,
  input: Type.Object({ mergeRequestId: Type.Integer(), actorId: Type.Integer() }),
  key: ({ mergeRequestId }) => `rebase_source:${mergeRequestId}`,
  // One process for each commit: thousands of commits take minutes.
  limits: async ({ actorId }) => longJobLimits(actorId),
  attempts: 10,
  async run({ mergeRequestId, actorId }, ctx) {
    const row = await findMerging(ctx.db, mergeRequestId)
    if (!row?.rebasing) return
    if (row.state === 'locked') throw new Error('a merge is in progress')
    // Merged or closed since: the branch stays as it is, and may be about to be deleted.
    if (row.state !== 'opened') return void (await endRebase(ctx.db, row.id, null))
    const asker = await asAccount(ctx, actorId)
    const outcome =
      asker &&
      (await rebase(asker, row).catch((error: unknown) => {
        if (isInterruption(error)) throw error
        ctx.log.warn({ err: error, merge_request_id: row.id }, 'a rebase failed')
        return undefined
      }))
    await endRebase(ctx.db, row.id, outcome === 'done' ? null : outcome ? `Rebase failed. ${outcome.refused}` : failed)
  },
})

/** Says nothing about the branches: the next attempt may succeed. */
const isInterruption = (error: unknown): boolean =>
  error instanceof RunnerLost || error instanceof DatabaseLost || wasKilled(error)

/** Ends rebases that were interrupted at every attempt: without their job they would be in progress until they are requested again. */
export const endFailedRebases = job({
  name: 'end_failed_rebases',
  input: Type.Object({}),
  key: () => 'end_failed_rebases',
  attempts: 3,
  every: { cron: '* * * * *', input: {} },
  run: (_input, ctx) =>
    ctx.transaction(async (tx) => {
      for (const { mergeRequestId } of await takeFailed(tx, rebaseSource)) await endRebase(tx, mergeRequestId, failed)
    }),
})

/** Maximum attempts while pushes to the source branch come first. */
const attempts = 5

/**
 * Undefined if git cannot rebase, or the caller may not; the reason if the push rules of the project refuse the new commits. Those of a fork
 * are for its members only. Idempotent.
 */
async function rebase(ctx: Ctx, row: MergingRow): Promise<'done' | { readonly refused: string } | undefined> {
  const project = await pushableSource(ctx, row)
  const name = branchRef(row.source_branch)
  if (!project || !name) return undefined
  const repo = openRepository(ctx, project)
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const { source, target } = await readHeads(ctx, row)
    if (!source || !target) return undefined
    if (project.id !== row.project_id) await fetchCommit(repo, targetRepository(ctx, row), target)
    const to = await rebaseCommits(repo, { head: source, onto: target, committer: callerSignature(ctx) })
    if (to === 'conflict') return undefined
    const moved = to === source ? 'moved' : await moveBranch(ctx, project, repo, { name, from: source, to })
    if (moved === 'stale') continue
    if (moved !== 'moved') return project.id === row.project_id ? moved : undefined
    // Clients that see the end of the rebase must find the new commits.
    await syncWithBranches(ctx, row.id)
    return 'done'
  }
  return undefined
}

async function moveBranch(ctx: Ctx, { id }: ProjectSubject, repo: Repository, change: RefChange) {
  let refused: string | undefined
  const refusal = (reason: string) => forbidden((refused = reason))
  try {
    return await moveRefs(ctx, id, repo, [change], { makes: 'all', refusal })
  } catch (error) {
    if (refused === undefined) throw error
    return { refused }
  }
}
