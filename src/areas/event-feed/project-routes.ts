import { endpoint, variants } from '../../api/endpoint.ts'
import { Params } from '../../api/params/types.ts'
import { Project, ProjectSimple } from '../projects/entity.ts'
import { projectsPage } from '../projects/list.ts'
import { projectFilters } from '../projects/params.ts'
import { userByIdOrName } from '../users/subject.ts'

export const contributedProjectRoutes = [
  endpoint({
    method: 'GET',
    path: '/users/:user_id/contributed_projects',
    summary:
      'List projects in which a user did something; none of a private profile, but to himself and administrators',
    subject: userByIdOrName,
    allow: 'read_user',
    params: Params(projectFilters),
    paged: true,
    returns: variants(Project, ProjectSimple),
    handle: ({ subject, params, page, ctx }) =>
      projectsPage(
        ctx,
        subject.private_profile && !subject.facts.flags['self'] && !ctx.actor?.admin
          ? { of: 'nothing' }
          : { of: 'contributions', userId: subject.id },
        params,
        page,
      ),
  }),
]
