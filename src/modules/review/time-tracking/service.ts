import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { blank } from '../../../kernel/violations.ts'
import { tellMergeRequest } from '../merge-requests/events.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { addSystemNote } from '../notes/service.ts'
import { formatDuration, longestDuration, parseDuration } from './duration.ts'
import { findTimes, insertTimeLog, lockTimes, type TimeRow, updateEstimate } from './queries.ts'

export async function getTimes(ctx: Ctx, { id }: MergeRequestSubject): Promise<TimeRow> {
  const times = await findTimes(ctx.db, id)
  if (!times) throw rowNotFound()
  return times
}

/** A change of the times of a merge request: how they are afterwards, and what is told of it; nothing when it changes nothing. */
type Change = { readonly after: TimeRow; readonly told: string }

/** Changes the times while nobody else does, and tells so. */
async function changeTimes(
  ctx: Ctx,
  mergeRequest: MergeRequestSubject,
  change: (tx: Tx, before: TimeRow) => Promise<Change | undefined>,
): Promise<TimeRow> {
  const actorId = ctx.actor!.id
  return ctx.transaction(async (tx) => {
    const before = await lockTimes(tx, mergeRequest.id)
    if (!before) throw rowNotFound()
    const changed = await change(tx, before)
    if (!changed) return before
    const { after, told } = changed
    await addSystemNote(tx, mergeRequest, actorId, told)
    const changes = (['time_estimate', 'total_time_spent'] as const)
      .filter((name) => before[name] !== after[name])
      .map((name) => [name, [before[name], after[name]] as const])
    await tellMergeRequest(tx, mergeRequest.id, {
      kind: 'merge_request_updated',
      actorId,
      changes: Object.fromEntries(changes),
    })
    return after
  })
}

/** As notes tell it. */
const shown = (seconds: number, { settings }: Ctx): string =>
  formatDuration(seconds, settings.time_tracking_limit_to_hours) ?? '0h'

/** How long it will take, anew. Nothing at all, with 0. */
async function changeEstimate(ctx: Ctx, mergeRequest: MergeRequestSubject, seconds: number): Promise<TimeRow> {
  return changeTimes(ctx, mergeRequest, async (tx, before) => {
    if (before.time_estimate === seconds) return undefined
    await updateEstimate(tx, mergeRequest.id, seconds)
    const told = seconds === 0 ? 'removed time estimate' : `changed time estimate to ${shown(seconds, ctx)}`
    return { after: { ...before, time_estimate: seconds }, told }
  })
}

export async function setEstimate(ctx: Ctx, mergeRequest: MergeRequestSubject, duration: string): Promise<TimeRow> {
  const seconds = parseDuration(duration)
  if (seconds === undefined || seconds < 0) throw invalidFields({ time_estimate: ['has an invalid format'] })
  return changeEstimate(ctx, mergeRequest, seconds)
}

export const resetEstimate = (ctx: Ctx, mergeRequest: MergeRequestSubject): Promise<TimeRow> =>
  changeEstimate(ctx, mergeRequest, 0)

/** Adds what the caller spent; with a minus, takes it back. */
export async function addSpent(ctx: Ctx, mergeRequest: MergeRequestSubject, duration: string): Promise<TimeRow> {
  const seconds = parseDuration(duration)
  if (seconds === undefined) throw invalidFields({ time_spent: [blank] })
  return changeTimes(ctx, mergeRequest, async (tx, before) => {
    if (seconds === 0) return undefined
    const total = before.total_time_spent + seconds
    if (total < 0) throw invalidFields({ time_spent: ['Time to subtract exceeds the total time spent'] })
    if (total > longestDuration) throw invalidFields({ time_spent: ['is more than can be kept'] })
    await insertTimeLog(tx, mergeRequest.id, ctx.actor!.id, seconds)
    const told = `${seconds > 0 ? 'added' : 'subtracted'} ${shown(Math.abs(seconds), ctx)} of time spent`
    return { after: { ...before, total_time_spent: total }, told }
  })
}

/** All that was spent is taken back. */
export const resetSpent = (ctx: Ctx, mergeRequest: MergeRequestSubject): Promise<TimeRow> =>
  changeTimes(ctx, mergeRequest, async (tx, before) => {
    if (before.total_time_spent === 0) return undefined
    await insertTimeLog(tx, mergeRequest.id, ctx.actor!.id, -before.total_time_spent)
    return { after: { ...before, total_time_spent: 0 }, told: 'removed time spent' }
  })
