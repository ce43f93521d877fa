import { endpoint } from '../../../api/endpoint.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { group } from '../../groups/index.ts'
import { getMilestone } from '../../planning/index.ts'
import { project } from '../../projects/index.ts'
import { MergeRequest } from '../merge-requests/entity.ts'
import { findMergeRequests } from './list.ts'

const params = Params({ milestone_id: Id({ description: 'ID of the milestone' }) })
const order = { by: 'created_at', sort: 'desc' } as const

export const milestoneMergeRequestRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/milestones/:milestone_id/merge_requests',
    summary: 'List project milestone merge requests',
    description: 'Newest first.',
    subject: project,
    allow: 'read_merge_request',
    params,
    paged: true,
    returns: MergeRequest,
    async handle({ subject: { id, full_path }, params: { milestone_id }, page, ctx }) {
      const milestone = await getMilestone(ctx, { of: 'project', id }, milestone_id)
      const asked = { filters: { milestone: { id: milestone.id } }, order }
      return findMergeRequests(ctx, { of: 'project', id }, { of: 'project', id, full_path }, asked, page)
    },
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/milestones/:milestone_id/merge_requests',
    summary: 'List group milestone merge requests',
    description: 'Newest first.',
    subject: group,
    allow: 'list_merge_requests',
    params,
    paged: true,
    returns: MergeRequest,
    async handle({ subject: { id, full_path, traversal_ids }, params: { milestone_id }, page, ctx }) {
      const milestone = await getMilestone(ctx, { of: 'group', id }, milestone_id)
      const asked = { filters: { milestone: { id: milestone.id } }, order }
      const below = { of: 'group', traversalIds: traversal_ids, archived: true } as const
      return findMergeRequests(ctx, below, { of: 'group', full_path }, asked, page)
    },
  }),
]
