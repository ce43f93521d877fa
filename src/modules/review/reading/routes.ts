import { endpoint } from '../../../api/endpoint.ts'
import { Flag, Params } from '../../../api/params/types.ts'
import { render_html } from '../../planning/index.ts'
import { getDetail } from '../merge-requests/detail.ts'
import { MergeRequestDetail } from '../merge-requests/detail-entity.ts'
import { mergeRequest } from '../merge-requests/subject.ts'
import { checkUnchecked } from './list.ts'

export const mergeRequestReadRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/merge_requests/:merge_request_iid',
    summary: 'Get a merge request',
    subject: mergeRequest,
    allow: 'read_merge_request',
    params: Params({
      render_html,
      include_diverged_commits_count: Flag({
        default: false,
        description: 'Include `diverged_commits_count` in the record',
      }),
      include_rebase_in_progress: Flag({ default: false, description: 'Include `rebase_in_progress` in the record' }),
    }),
    returns: MergeRequestDetail,
    async handle({ subject, params, ctx }) {
      await checkUnchecked(ctx, [subject])
      return getDetail(ctx, subject.project, subject.id, {
        divergedCommits: params.include_diverged_commits_count,
        rebasing: params.include_rebase_in_progress,
        renderHtml: params.render_html,
      })
    },
  }),
]
