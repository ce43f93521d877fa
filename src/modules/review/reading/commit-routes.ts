import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { slicePage } from '../../../api/page.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { placeOfProject } from '../../planning/index.ts'
import { openRepository, project } from '../../projects/index.ts'
import { getCommit } from '../../repository/index.ts'
import { MergeRequest } from '../merge-requests/entity.ts'
import { findMergeRequests } from './list.ts'

export const commitMergeRequestRoutes = [
  /** Requires reading code; callers who cannot read merge requests get an empty list. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/commits/:sha/merge_requests',
    summary: 'List merge requests of a commit',
    description: 'Returns merge requests of the project that contain the commit or were merged as it.',
    subject: project,
    allow: 'read_code',
    params: Params({ sha: Text({ description: 'Full or abbreviated commit hash, or branch or tag name' }) }),
    paged: true,
    returns: MergeRequest,
    async handle({ subject, params, page, ctx }) {
      const { oid } = await getCommit(openRepository(ctx, subject), params.sha)
      if (!allows(projectPolicy.read_merge_request, ctx.actor, subject.facts)) return slicePage([], page)
      const asked = { filters: { commit: oid }, order: { by: 'created_at', sort: 'desc' } } as const
      return findMergeRequests(ctx, placeOfProject(subject), asked, page)
    },
  }),
]
