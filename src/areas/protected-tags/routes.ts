import { endpoint } from '../../api/endpoint.ts'
import { fetchPage } from '../../api/page.ts'
import { Filled, Params, Text } from '../../api/params/types.ts'
import { project } from '../projects/subject.ts'
import { accessLevels } from '../protected-refs/levels.ts'
import { allowedParam, grantsAmong, levelParam } from '../protected-refs/params.ts'
import { findProtectedRef, listProtectedRefs, type ProtectedRefRow } from '../protected-refs/queries.ts'
import { getProtectedRef, protectRef, unprotectRef } from '../protected-refs/service.ts'
import { ProtectedTag } from './entity.ts'

const name = Text({ description: 'Name of the rule, wildcards included, as one segment' })

export const protectedTagRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/protected_tags',
    summary: 'List what protects tags',
    subject: project,
    allow: 'admin_protected_ref',
    paged: true,
    returns: ProtectedTag,
    handle: ({ subject, page, ctx }) =>
      fetchPage<ProtectedRefRow>(ctx.db, listProtectedRefs(subject.id, 'tag', ctx.actor), page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/protected_tags/:name',
    summary: 'What protects tags of one name or pattern',
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({ name }),
    returns: ProtectedTag,
    handle: ({ subject, params, ctx }) => getProtectedRef(ctx, subject, 'tag', params.name),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/protected_tags',
    summary: 'Protect a tag, or all that a pattern covers',
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({
      name: Filled({ description: 'Name; `*` stands for any text' }),
      create_access_level: levelParam('create it; maintainers without'),
      allowed_to_create: allowedParam('create it'),
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

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/protected_tags/:name',
    summary: 'Stop protecting a tag or pattern',
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({ name }),
    changedAt: async (subject, params, ctx) =>
      (await findProtectedRef(ctx.db, subject.id, 'tag', params.name, ctx.actor))?.updated_at,
    returns: null,
    handle: async ({ subject, params, ctx }) =>
      unprotectRef(ctx, subject, await getProtectedRef(ctx, subject, 'tag', params.name)),
  }),
]
