import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { type MergeRequestSubject, mergeRequest } from '../merge-requests/subject.ts'
import { TimeStats } from './entity.ts'
import type { TimeRow } from './queries.ts'
import { addSpent, getTimes, resetEstimate, resetSpent, setEstimate } from './service.ts'

const base = '/projects/:id/merge_requests/:merge_request_iid'

const params = Params({ duration: Text({ description: 'Like `1mo 2w 3d 4h 5m`; a number alone is hours' }) })

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
    summary: 'How long a merge request is to take, and took',
    subject: mergeRequest,
    allow: 'read_merge_request',
    returns: TimeStats,
    handle: ({ subject, ctx }) => getTimes(ctx, subject),
  }),

  endpoint({
    method: 'POST',
    path: `${base}/time_estimate`,
    summary: 'Say how long a merge request is to take',
    subject: mergeRequest,
    allow: 'update_merge_request',
    params,
    status: 200,
    returns: TimeStats,
    handle: ({ subject, params, ctx }) => setEstimate(ctx, subject, params.duration),
  }),

  reset('reset_time_estimate', 'Take back how long a merge request is to take', resetEstimate),

  endpoint({
    method: 'POST',
    path: `${base}/add_spent_time`,
    summary: 'Add time that was spent on a merge request; with a minus, take it back',
    subject: mergeRequest,
    allow: 'update_merge_request',
    params,
    returns: TimeStats,
    handle: ({ subject, params, ctx }) => addSpent(ctx, subject, params.duration),
  }),

  reset('reset_spent_time', 'Take back all time that was spent on a merge request', resetSpent),
]
