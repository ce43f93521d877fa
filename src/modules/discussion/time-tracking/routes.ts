import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { Params, Text } from '../../../api/params/types.ts'
import type { DiscussedSubject, Tracked } from '../noteables/noteable.ts'
import { TimeStats } from './entity.ts'
import type { TimeRow } from './queries.ts'
import { addSpent, getTimes, resetEstimate, resetSpent, setEstimate } from './service.ts'

const params = Params({
  duration: Text({ description: 'Duration such as `1mo 2w 3d 4h 5m`; a plain number is hours' }),
})

/** Endpoints of time tracking of one kind of noteable. */
export function timeTrackingRoutesOf<T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  { subject, path: base, noun, read, update }: DiscussedSubject<T, A, P>,
  tracked: (subject: T) => Tracked,
) {
  const reset = (path: string, summary: string, change: (ctx: Ctx, tracked: Tracked) => Promise<TimeRow>) =>
    endpoint({
      method: 'POST',
      path: `${base}/${path}`,
      summary,
      subject,
      allow: update,
      status: 200,
      returns: TimeStats,
      handle: ({ subject, ctx }) => change(ctx, tracked(subject)),
    })

  return [
    endpoint({
      method: 'GET',
      path: `${base}/time_stats`,
      summary: `Get ${noun} time statistics`,
      subject,
      allow: read,
      returns: TimeStats,
      handle: ({ subject, ctx }) => getTimes(ctx, tracked(subject)),
    }),

    endpoint({
      method: 'POST',
      path: `${base}/time_estimate`,
      summary: `Set ${noun} time estimate`,
      subject,
      allow: update,
      params,
      status: 200,
      returns: TimeStats,
      handle: ({ subject, params, ctx }) => setEstimate(ctx, tracked(subject), params.duration),
    }),

    reset('reset_time_estimate', `Reset ${noun} time estimate`, resetEstimate),

    endpoint({
      method: 'POST',
      path: `${base}/add_spent_time`,
      summary: `Add ${noun} time spent`,
      description: 'A negative duration subtracts.',
      subject,
      allow: update,
      params,
      returns: TimeStats,
      handle: ({ subject, params, ctx }) => addSpent(ctx, tracked(subject), params.duration),
    }),

    reset('reset_spent_time', `Reset ${noun} time spent`, resetSpent),
  ]
}
