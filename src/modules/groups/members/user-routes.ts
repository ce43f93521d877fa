import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { List, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { requireVisiblePeople, UserListItem } from '../../accounts/index.ts'
import { project } from '../../projects/index.ts'
import { listAllMembers, memberRow } from './queries.ts'
import { projectMembership } from './service.ts'

export const projectUserRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/users',
    summary: 'List users of a project',
    description: 'Returns direct, inherited and invited members as user records.',
    subject: project,
    allow: 'read_project',
    params: Params({
      search: Optional(Text({ description: 'Part of the name or username' })),
      skip_users: Optional(List(Whole({ maximum: Number.MAX_SAFE_INTEGER }), { description: 'User IDs to exclude' })),
    }),
    paged: true,
    returns: UserListItem,
    async handle({ subject, params, page, ctx }) {
      requireVisiblePeople(ctx)
      const filters = {
        ...(params.search !== undefined && { query: params.search }),
        ...(params.skip_users && { skip_users: params.skip_users }),
      }
      const membership = await projectMembership(ctx.db, ctx.plan, subject)
      return fetchPage(ctx.db, memberRow, listAllMembers(membership, filters), page)
    },
  }),
]
