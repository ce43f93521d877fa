import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Flag, Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { Namespace } from './entity.ts'
import { namespaceNamed } from './find.ts'
import { namespacesOf, namespaceWithLevelRow } from './queries.ts'

export const namespaceRoutes = [
  endpoint({
    method: 'GET',
    path: '/namespaces',
    summary: 'List namespaces',
    description: 'Returns the namespaces of the caller; administrators see all.',
    subject: instance,
    allow: 'use',
    params: Params({
      search: Optional(Text({ description: 'Part of the name or path' })),
      owned_only: Flag({ default: false, description: 'Only groups that the caller owns' }),
    }),
    paged: true,
    returns: Namespace,
    handle: ({ params, page, ctx }) => fetchPage(ctx.db, namespaceWithLevelRow, namespacesOf(ctx.actor!, params), page),
  }),

  endpoint({
    method: 'GET',
    path: '/namespaces/:id',
    summary: 'Get a namespace',
    subject: instance,
    allow: 'use',
    params: Params({ id: Text({ description: 'ID or full path' }) }),
    returns: Namespace,
    handle: ({ params, ctx }) => namespaceNamed(ctx, params.id),
  }),
]
