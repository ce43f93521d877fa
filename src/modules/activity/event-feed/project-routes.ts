import { endpoint, variants } from '../../../api/endpoint.ts'
import { Params } from '../../../api/params/types.ts'
import { userByIdOrName } from '../../accounts/index.ts'
import { Project, ProjectSimple, projectFilters, projectsOfUser } from '../../projects/index.ts'
import { contributedTo } from './queries.ts'

export const contributedProjectRoutes = [
  endpoint({
    method: 'GET',
    path: '/users/:user_id/contributed_projects',
    summary: 'List projects contributed to by user',
    description:
      'Projects of the latest 10,000 activities of the user. The list of a private profile is empty, except for the user and administrators.',
    subject: userByIdOrName,
    allow: 'read_user',
    params: Params(projectFilters),
    paged: true,
    returns: variants(Project, ProjectSimple),
    handle: ({ subject, params, page, ctx }) =>
      projectsOfUser(ctx, subject, { of: 'contributions', ids: contributedTo(ctx.actor, subject.id) }, params, page),
  }),
]
