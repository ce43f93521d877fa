import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { OneOf, Optional, Params } from '../../../api/params/types.ts'
import { user } from '../../accounts/index.ts'
import { UserMembership } from './entity.ts'
import { membershipRow, membershipsOf } from './queries.ts'

export const membershipRoutes = [
  endpoint({
    method: 'GET',
    path: '/users/:id/memberships',
    summary: 'List memberships of a user',
    description: 'Returns the groups and projects of which the user is a direct member.',
    scopes: ['read_user'],
    subject: user,
    allow: 'admin_user',
    params: Params({
      type: Optional(OneOf(['Project', 'Namespace'], { description: 'Only projects, or only groups' })),
    }),
    paged: true,
    returns: UserMembership,
    handle: ({ subject, params, page, ctx }) =>
      fetchPage(ctx.db, membershipRow, membershipsOf(subject.id, params.type), page),
  }),
]
