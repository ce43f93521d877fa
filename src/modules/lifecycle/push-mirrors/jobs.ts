import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { enqueue, enqueueEach, enqueueWhere, job } from '../../../jobs/job.ts'
import { remoteLimits } from '../remotes/limits.ts'
import { RemoteRefusal } from '../remotes/refusal.ts'
import { delaySeconds, maxFailures } from '../remotes/schedule.ts'
import {
  beginPush,
  cancelPush,
  disableMirrorsOf,
  dueRetries,
  endPush,
  findPushRemote,
  hasPushMirrors,
  lockPushFailures,
  schedulePushes,
} from './queries.ts'
import { type PushOutcome, sendToMirror } from './send.ts'

/** Pushes in quick succession share one update. */
const updateAfterMs = 5000
/** Seconds until the first retry of a failed update, and the maximum. */
const [firstRetrySeconds, maxRetrySeconds] = [60, 4 * 3600]

/** Updates a remote repository from a project. */
export const pushToMirror = job({
  name: 'push_to_mirror',
  slow: true,
  outgoing: true,
  input: Type.Object({ projectId: Type.Integer(), mirrorId: Type.Integer() }),
  key: ({ mirrorId }) => `push_to_mirror:${mirrorId}`,
  async limits({ mirrorId }, ctx) {
    const remote = await findPushRemote(ctx.db, mirrorId)
    return remote && remoteLimits('mirror', { url: remote.shown_url, userId: remote.user_id })
  },
  // Constant pushes must not hold one of the few slots of mirrors.
  throttled: true,
  // Only failures of this service are retried at once; those of the remote wait.
  attempts: 5,
  async run({ projectId, mirrorId }, ctx) {
    const mirror = await beginPush(ctx.db, mirrorId)
    if (!mirror) return void (await cancelPush(ctx.db, mirrorId))
    const outcome = await sendToMirror(ctx, { projectId, mirrorId }, mirror).catch((error: unknown): PushOutcome => {
      if (!(error instanceof RemoteRefusal)) throw error
      return { error: error.message, retries: true }
    })
    if (outcome) await settlePush(ctx, { projectId, mirrorId }, outcome)
    else await cancelPush(ctx.db, mirrorId)
  },
})

/** Records the result of an update and schedules its retry. Too many failures in a row stop the retries until the next push. */
const settlePush = (
  ctx: Ctx,
  { projectId, mirrorId }: { projectId: number; mirrorId: number },
  { error, retries }: PushOutcome,
): Promise<void> =>
  ctx.transaction(async (tx) => {
    const before = await lockPushFailures(tx, mirrorId)
    if (before === undefined) return
    const failures = retries ? before + 1 : 0
    const again = retries && failures < maxFailures
    const nextInSeconds = again ? delaySeconds(firstRetrySeconds, before, maxRetrySeconds) : null
    await endPush(tx, mirrorId, { error, failures, nextInSeconds })
    if (failures === maxFailures)
      await emit(tx, {
        kind: 'push_mirror_stopped',
        projectId,
        actorId: null,
        payload: { push_mirror_id: mirrorId, failures },
      })
  })

/** Starts the enabled push mirrors of a project. */
export const startPushMirrors = job({
  name: 'start_push_mirrors',
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `start_push_mirrors:${projectId}`,
  attempts: 5,
  run: ({ projectId }, ctx) =>
    ctx.transaction(async (tx) => {
      for (const mirrorId of await schedulePushes(tx, projectId))
        await enqueue(tx, pushToMirror, { projectId, mirrorId }, updateAfterMs)
    }),
})

/** Retries failed and interrupted updates that are due. */
export const retryPushMirrors = job({
  name: 'retry_push_mirrors',
  input: Type.Object({}),
  key: () => 'retry_push_mirrors',
  attempts: 3,
  every: { cron: '* * * * *', input: {} },
  run: (_input, ctx) =>
    ctx.transaction(async (tx) => {
      const due = await dueRetries(tx)
      await enqueueEach(
        tx,
        pushToMirror,
        due.map(({ id, project_id }) => ({ projectId: project_id, mirrorId: id })),
      )
    }),
})

/** Starts the push mirrors of a project whose refs have moved, if it has any. One statement. */
export const startMirrorsAfterChange = (tx: Tx, { projectId }: { projectId: number }) =>
  enqueueWhere(tx, startPushMirrors, { projectId }, hasPushMirrors(projectId))

/** Disables the push mirrors that a deleted user set up. */
export const disablePushMirrorsOfDeleted: Reaction<'user_deleted'> = (tx, { payload }) =>
  disableMirrorsOf(tx, payload.user_id, 'The user who set up the mirror was deleted.')
