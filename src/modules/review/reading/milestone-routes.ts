import { endpoint } from '../../../api/endpoint.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { group } from '../../groups/index.ts'
import { getMilestone, placeOfGroup, placeOfProject } from '../../planning/index.ts'
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
    async handle({ subject, params: { milestone_id }, page, ctx }) {
      const milestone = await getMilestone(ctx, { of: 'project', id: subject.id }, milestone_id)
      const asked = { filters: { milestone: { id: milestone.id } }, order }
      return findMergeRequests(ctx, placeOfProject(subject), asked, page)
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
    async handle({ subject, params: { milestone_id }, page, ctx }) {
      const milestone = await getMilestone(ctx, { of: 'group', id: subject.id }, milestone_id)
      const asked = { filters: { milestone: { id: milestone.id } }, order }
      return findMergeRequests(ctx, placeOfGroup(subject), asked, page)
    },
  }),
]
