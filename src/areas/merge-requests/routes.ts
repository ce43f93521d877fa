import { endpoint } from '../../api/endpoint.ts'
import { Flag, Id, Optional, Params, Text } from '../../api/params/types.ts'
import { project } from '../projects/subject.ts'
import { getDetail } from './detail.ts'
import { MergeRequestDetail } from './detail-entity.ts'
import { checkUnchecked } from './list.ts'
import { approvals_before_merge, attributeParams, namedOnce } from './params.ts'
import { createMergeRequest } from './service.ts'
import { mergeRequest } from './subject.ts'

export const mergeRequestRoutes = [
  /** A walk of the commits, and one `diff-tree`; from a fork, its commits are brought over. */
  endpoint({
    method: 'POST',
    path: '/projects/:id/merge_requests',
    summary: 'Ask that a branch of the project be merged',
    subject: project,
    allow: 'create_merge_request_from',
    params: Params({
      source_branch: Text({ description: 'Branch of this project' }),
      target_branch: Text({ description: 'Branch into which it is to be merged' }),
      target_project_id: Optional(Id({ description: 'Its project, of the same fork network; this one without' })),
      title: Text({ description: 'What it is about' }),
      milestone_id: Optional(Id({ description: 'Milestone of the target or of a group around it' })),
      approvals_before_merge,
      ...attributeParams,
    }),
    returns: MergeRequestDetail,
    async handle({ subject, params, ctx }) {
      const { target, id } = await createMergeRequest(ctx, subject, namedOnce(params))
      return getDetail(ctx, target, id, {
        within: { of: 'project', id: subject.id, full_path: subject.full_path },
      })
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/merge_requests/:merge_request_iid',
    summary: 'One merge request',
    subject: mergeRequest,
    allow: 'read_merge_request',
    params: Params({
      include_diverged_commits_count: Flag({ default: false, description: 'With diverged_commits_count' }),
      include_rebase_in_progress: Flag({ default: false, description: 'With rebase_in_progress' }),
    }),
    returns: MergeRequestDetail,
    async handle({ subject, params, ctx }) {
      await checkUnchecked(ctx, [subject])
      return getDetail(ctx, subject.project, subject.id, {
        divergedCommits: params.include_diverged_commits_count,
        rebasing: params.include_rebase_in_progress,
      })
    },
  }),
]
