import { Type } from 'typebox'
import { enqueueEach, job } from '../../../jobs/job.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { remoteLimits } from '../remotes/limits.ts'
import { RemoteRefusal } from '../remotes/refusal.ts'
import { followSource } from './follow-source.ts'
import { beginUpdate, countQueued, findPullRemote, leaveQueue, queueDue } from './queries.ts'
import { type Outcome, settleUpdate } from './settle.ts'

/** Updates a pull mirror from its source. */
export const updatePullMirror = job({
  name: 'update_pull_mirror',
  slow: true,
  outgoing: true,
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `update_pull_mirror:${projectId}`,
  async limits({ projectId }, ctx) {
    const remote = await findPullRemote(ctx.db, projectId)
    return remote && remoteLimits('mirror', { url: remote.shown_url, userId: remote.user_id })
  },
  // Requests in quick succession must not hold one of the few slots of mirrors.
  throttled: true,
  // Only failures of this service are retried at once; those of the source wait for the next update.
  attempts: 5,
  async run({ projectId }, ctx) {
    const mirror = planOffers(ctx.plan, 'starter') ? await beginUpdate(ctx.db, projectId) : undefined
    if (!mirror) return void (await leaveQueue(ctx.db, projectId))
    const outcome = await followSource(ctx, projectId, mirror).catch((error: unknown): Outcome => {
      if (!(error instanceof RemoteRefusal)) throw error
      return { error: error.message, failed: true }
    })
    await settleUpdate(ctx, projectId, outcome)
  },
})

/** Enqueues the updates that are due, within the capacity of the settings. */
export const schedulePullMirrors = job({
  name: 'schedule_pull_mirrors',
  input: Type.Object({}),
  key: () => 'schedule_pull_mirrors',
  attempts: 3,
  every: { cron: '* * * * *', input: {} },
  async run(_input, ctx) {
    if (!planOffers(ctx.plan, 'starter')) return
    const { mirror_max_capacity: capacity, mirror_capacity_threshold: threshold } = ctx.settings
    await ctx.transaction(async (tx) => {
      const free = capacity - (await countQueued(tx))
      if (free < Math.min(threshold, capacity)) return
      const due = await queueDue(tx, free, ctx.settings.mirror_max_delay * 60)
      await enqueueEach(
        tx,
        updatePullMirror,
        due.map((projectId) => ({ projectId })),
      )
    })
  },
})
