import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { type MergeRequestSubject, mergeRequest } from '../merge-requests/subject.ts'
import { TimeStats } from './entity.ts'
import type { TimeRow } from './queries.ts'
import { addSpent, getTimes, resetEstimate, resetSpent, setEstimate } from './service.ts'

const base = '/projects/:id/merge_requests/:merge_request_iid'

const params = Params({
  duration: Text({ description: 'Duration such as `1mo 2w 3d 4h 5m`; a plain number is hours' }),
})

const reset = (
  path: string,
  summary: string,
  change: (ctx: Ctx, mergeRequest: MergeRequestSubject) => Promise<TimeRow>,
) =>
  endpoint({
    method: 'POST',
    path: `${base}/${path}`,
    summary,
    subject: mergeRequest,
    allow: 'update_merge_request',
    status: 200,
    returns: TimeStats,
    handle: ({ subject, ctx }) => change(ctx, subject),
  })

export const timeTrackingRoutes = [
  endpoint({
    method: 'GET',
    path: `${base}/time_stats`,
    summary: 'Get merge request time statistics',
    subject: mergeRequest,
    allow: 'read_merge_request',
    returns: TimeStats,
    handle: ({ subject, ctx }) => getTimes(ctx, subject),
  }),

  endpoint({
    method: 'POST',
    path: `${base}/time_estimate`,
    summary: 'Set merge request time estimate',
    subject: mergeRequest,
    allow: 'update_merge_request',
    params,
    status: 200,
    returns: TimeStats,
    handle: ({ subject, params, ctx }) => setEstimate(ctx, subject, params.duration),
  }),

  reset('reset_time_estimate', 'Reset merge request time estimate', resetEstimate),

  endpoint({
    method: 'POST',
    path: `${base}/add_spent_time`,
    summary: 'Add merge request time spent',
    description: 'A negative duration subtracts.',
    subject: mergeRequest,
    allow: 'update_merge_request',
    params,
    returns: TimeStats,
    handle: ({ subject, params, ctx }) => addSpent(ctx, subject, params.duration),
  }),

  reset('reset_spent_time', 'Reset merge request time spent', resetSpent),
]
