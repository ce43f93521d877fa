import { endpoint, variants } from '../../../api/endpoint.ts'
import { Params } from '../../../api/params/types.ts'
import { Project, ProjectSimple, projectFilters, projectsPage } from '../../projects/index.ts'
import { group } from '../groups/subject.ts'

export const sharedProjectRoutes = [
  endpoint({
    method: 'GET',
    path: '/groups/:id/projects/shared',
    summary: 'List projects shared with a group',
    subject: group,
    allow: 'read_group',
    params: Params(projectFilters),
    paged: true,
    returns: variants(Project, ProjectSimple),
    handle: ({ subject: { id, traversal_ids }, params, page, ctx }) =>
      projectsPage(
        ctx,
        { of: 'group', groupId: id, traversalIds: traversal_ids, shared: 'only', includeSubgroups: false },
        params,
        page,
      ),
  }),
]
