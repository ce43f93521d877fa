import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Filled, Params } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { oneRule, unprotecting } from '../protected-refs/endpoints.ts'
import { accessLevels } from '../protected-refs/levels.ts'
import { allowedParam, grantsAmong, levelParam } from '../protected-refs/params.ts'
import { listProtectedRefs, protectedRefRow } from '../protected-refs/queries.ts'
import { protectRef } from '../protected-refs/service.ts'
import { ProtectedTag } from './entity.ts'

export const protectedTagRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/protected_tags',
    summary: 'List protected tags',
    subject: project,
    allow: 'admin_protected_ref',
    paged: true,
    returns: ProtectedTag,
    handle: ({ subject, page, ctx }) =>
      fetchPage(ctx.db, protectedRefRow, listProtectedRefs(subject.id, 'tag', ctx.actor), page),
  }),

  oneRule('tag', ProtectedTag),

  endpoint({
    method: 'POST',
    path: '/projects/:id/protected_tags',
    summary: 'Protect a tag or pattern',
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({
      name: Filled({ description: 'Name; `*` matches any text' }),
      create_access_level: levelParam('create', 'create matching tags; default: 40'),
      allowed_to_create: allowedParam('create', 'create it'),
    }),
    returns: ProtectedTag,
    handle: ({ subject, params, ctx }) =>
      protectRef(
        ctx,
        subject,
        { kind: 'tag', name: params.name },
        { create: grantsAmong(params.create_access_level, params.allowed_to_create, accessLevels.maintainers) },
      ),
  }),

  unprotecting('tag'),
]
