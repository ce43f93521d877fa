import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { blank } from '../../../kernel/violations.ts'
import type { Noteable, Tracked } from '../noteables/noteable.ts'
import { addSystemNote } from '../notes/service.ts'
import { formatDuration, longestDuration, parseDuration } from './duration.ts'
import { findTimes, insertTimeLog, lockTimes, type TimeRow } from './queries.ts'

export async function getTimes(ctx: Ctx, noteable: Noteable): Promise<TimeRow> {
  const times = await findTimes(ctx.db, noteable)
  if (!times) throw rowNotFound()
  return times
}

/** A change of the times of a noteable: the times afterwards, and the text of its system note. */
type Change = { readonly after: TimeRow; readonly note: string }

/** Changes the times of a noteable while its row is locked, and emits the change. Nothing if `change` returns `undefined`. */
async function changeTimes(
  ctx: Ctx,
  tracked: Tracked,
  change: (tx: Tx, before: TimeRow) => Promise<Change | undefined>,
): Promise<TimeRow> {
  const actorId = ctx.actor!.id
  return ctx.transaction(async (tx) => {
    const before = await lockTimes(tx, tracked)
    if (!before) throw rowNotFound()
    const changed = await change(tx, before)
    if (!changed) return before
    const { after, note } = changed
    await addSystemNote(tx, tracked, actorId, note)
    const changes = (['time_estimate', 'total_time_spent'] as const)
      .filter((name) => before[name] !== after[name])
      .map((name) => [name, [before[name], after[name]] as const])
    await tracked.emitUpdated(tx, actorId, Object.fromEntries(changes))
    return after
  })
}

/** Formats a duration for notes. */
const shown = (seconds: number, { settings }: Ctx): string =>
  formatDuration(seconds, settings.time_tracking_limit_to_hours) ?? '0h'

/** Sets the estimate; 0 removes it. */
async function changeEstimate(ctx: Ctx, tracked: Tracked, seconds: number): Promise<TimeRow> {
  return changeTimes(ctx, tracked, async (tx, before) => {
    if (before.time_estimate === seconds) return undefined
    await tracked.saveEstimate(tx, seconds)
    const note = seconds === 0 ? 'removed time estimate' : `changed time estimate to ${shown(seconds, ctx)}`
    return { after: { ...before, time_estimate: seconds }, note }
  })
}

export async function setEstimate(ctx: Ctx, tracked: Tracked, duration: string): Promise<TimeRow> {
  const seconds = parseDuration(duration)
  if (seconds === undefined || seconds < 0) throw invalidFields({ time_estimate: ['has an invalid format'] })
  return changeEstimate(ctx, tracked, seconds)
}

export const resetEstimate = (ctx: Ctx, tracked: Tracked): Promise<TimeRow> => changeEstimate(ctx, tracked, 0)

async function logTime(tx: Tx, tracked: Tracked, userId: number, seconds: number): Promise<void> {
  await tracked.touch(tx)
  await insertTimeLog(tx, tracked, userId, seconds)
}

/** Adds time that the caller spent; a negative duration subtracts. */
export async function addSpent(ctx: Ctx, tracked: Tracked, duration: string): Promise<TimeRow> {
  const seconds = parseDuration(duration)
  if (seconds === undefined) throw invalidFields({ time_spent: [blank] })
  return changeTimes(ctx, tracked, async (tx, before) => {
    if (seconds === 0) return undefined
    const total = before.total_time_spent + seconds
    if (total < 0) throw invalidFields({ time_spent: ['Time to subtract exceeds the total time spent'] })
    if (total > longestDuration) throw invalidFields({ time_spent: ['is more than can be kept'] })
    await logTime(tx, tracked, ctx.actor!.id, seconds)
    const note = `${seconds > 0 ? 'added' : 'subtracted'} ${shown(Math.abs(seconds), ctx)} of time spent`
    return { after: { ...before, total_time_spent: total }, note }
  })
}

/** Resets the time spent to zero. */
export const resetSpent = (ctx: Ctx, tracked: Tracked): Promise<TimeRow> =>
  changeTimes(ctx, tracked, async (tx, before) => {
    if (before.total_time_spent === 0) return undefined
    await logTime(tx, tracked, ctx.actor!.id, -before.total_time_spent)
    return { after: { ...before, total_time_spent: 0 }, note: 'removed time spent' }
  })
