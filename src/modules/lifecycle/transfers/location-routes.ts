import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Optional, Params, Text } from '../../../api/params/types.ts'
import { GroupReference, group, groupReferenceRow } from '../../groups/index.ts'
import { project } from '../../projects/index.ts'
import { locationsForGroup, locationsForProject } from './location-queries.ts'

const search = Optional(Text({ description: 'Search terms in the name or path' }))

export const transferLocationRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/transfer_locations',
    summary: 'List transfer targets of a project',
    description: 'Returns the groups to which the caller may transfer the project.',
    subject: project,
    allow: 'transfer_project',
    params: Params({ search }),
    paged: true,
    returns: GroupReference,
    handle: ({ subject, params, page, ctx }) =>
      fetchPage(ctx.db, groupReferenceRow, locationsForProject(ctx.actor!, subject, params.search), page),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/transfer_locations',
    summary: 'List transfer targets of a group',
    description: 'Returns the groups below which the caller may move the group.',
    subject: group,
    allow: 'transfer_group',
    params: Params({ search }),
    paged: true,
    returns: GroupReference,
    handle: ({ subject, params, page, ctx }) =>
      fetchPage(ctx.db, groupReferenceRow, locationsForGroup(ctx.actor!, subject, params.search), page),
  }),
]
