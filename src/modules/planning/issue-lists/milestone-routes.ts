import { endpoint } from '../../../api/endpoint.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { group } from '../../groups/index.ts'
import { project } from '../../projects/index.ts'
import { placeOfGroup, placeOfProject } from '../filters/places.ts'
import { Issue } from '../issues/entity.ts'
import { getMilestone } from '../milestones/service.ts'
import { findIssues } from './list.ts'

const params = Params({ milestone_id: Id({ description: 'ID of the milestone' }) })

export const milestoneIssueRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/milestones/:milestone_id/issues',
    summary: 'List project milestone issues',
    description: 'Newest first.',
    subject: project,
    allow: 'read_issue',
    params,
    paged: true,
    returns: Issue,
    async handle({ subject, params: { milestone_id }, page, ctx }) {
      const milestone = await getMilestone(ctx, { of: 'project', id: subject.id }, milestone_id)
      const filters = { milestone: { id: milestone.id } }
      return findIssues(ctx, placeOfProject(subject), { filters }, page)
    },
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/milestones/:milestone_id/issues',
    summary: 'List group milestone issues',
    description: 'Newest first.',
    subject: group,
    allow: 'list_issues',
    params,
    paged: true,
    returns: Issue,
    async handle({ subject, params: { milestone_id }, page, ctx }) {
      const milestone = await getMilestone(ctx, { of: 'group', id: subject.id }, milestone_id)
      const filters = { milestone: { id: milestone.id } }
      return findIssues(ctx, placeOfGroup(subject), { filters }, page)
    },
  }),
]
