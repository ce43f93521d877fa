import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { delaySeconds, maxFailures } from '../remotes/schedule.ts'
import { endUpdate, lockFailures, stopMirrorsOf } from './queries.ts'

/** Seconds between two updates, unless a setting requires more frequent ones. */
export const intervalSeconds = 30 * 60

/** Result of an update. `failed`: nothing was updated, and too many in a row stop the mirror. */
export type Outcome = { readonly error: string | null; readonly failed: boolean }

/** Records the result of an update and schedules the next one. */
export const settleUpdate = (ctx: Ctx, projectId: number, { error, failed }: Outcome): Promise<void> =>
  ctx.transaction(async (tx) => {
    const before = await lockFailures(tx, projectId)
    if (before === undefined) return
    const failures = failed ? before + 1 : 0
    const stops = failures >= maxFailures
    const maxSeconds = ctx.settings.mirror_max_delay * 60
    const nextInSeconds = stops ? null : delaySeconds(intervalSeconds, failures, maxSeconds)
    await endUpdate(tx, projectId, { error, failures, nextInSeconds })
    if (stops) await emit(tx, { kind: 'pull_mirror_stopped', projectId, actorId: null, payload: { failures } })
  })

/** Stops the pull mirrors that have the rights of a deleted user. */
export const stopPullMirrorsOfDeleted: Reaction<'user_deleted'> = (tx, { payload }) =>
  stopMirrorsOf(tx, payload.user_id, 'The user of the mirror was deleted.')
