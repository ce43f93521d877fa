import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { job } from '../../../jobs/job.ts'
import { Failure } from '../../../kernel/failure.ts'
import { asAccount } from '../../accounts/index.ts'
import { loadMergeRequest } from '../merge-requests/subject.ts'
import { awaitedMergesDue } from './auto-merge-due.ts'
import { merge } from './merge-service.ts'
import { headPipeline, isPassing } from './mergeable.ts'
import { awaiting, findMerging } from './queries.ts'

/** For whoever asked for it, if he still may. What stands against a merge now leaves it waiting for another pipeline. */
export const mergeAwaited = job({
  ...awaitedMergesDue,
  async run({ projectId, sha }, ctx) {
    for (const id of await awaiting(ctx.db, projectId, sha as Oid)) await mergeOne(ctx, id)
  },
})

async function mergeOne(ctx: Ctx, id: number): Promise<void> {
  const row = await findMerging(ctx.db, id)
  const asker = row?.auto_merge_user_id ? await asAccount(ctx, row.auto_merge_user_id) : undefined
  if (!row?.auto_merge_oid || !asker) return
  const pipeline = await headPipeline(ctx, row)
  if (!pipeline || !isPassing(pipeline)) return
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
