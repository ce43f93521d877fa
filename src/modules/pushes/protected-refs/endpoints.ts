import { endpoint } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { findProtectedRef, type ProtectedRefRow, type RefKind } from './queries.ts'
import { getProtectedRef, noRule, unprotectRef } from './service.ts'

/** Path parameter that names a rule. */
export const ruleName = Text({ description: 'Name or pattern of the rule, URL-encoded' })

const plurals: Readonly<Record<RefKind, string>> = { branch: 'branches', tag: 'tags' }
const pathOf = (kind: RefKind) => `/projects/:id/protected_${plurals[kind]}/:name` as const

/** Endpoint that returns one rule for branches or tags. */
export const oneRule = (kind: RefKind, returns: Entity<ProtectedRefRow>) =>
  endpoint({
    method: 'GET',
    path: pathOf(kind),
    summary: `Get a protected ${kind}`,
    description: 'Finds the rule by name or pattern.',
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({ name: ruleName }),
    returns,
    handle: ({ subject, params, ctx }) => getProtectedRef(ctx, subject, kind, params.name),
  })

/** Endpoint that deletes a rule. */
export const unprotecting = (kind: RefKind) =>
  endpoint({
    method: 'DELETE',
    path: pathOf(kind),
    summary: `Unprotect a ${kind} or pattern`,
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({ name: ruleName }),
    changedAt: async (subject, params, ctx) =>
      (await findProtectedRef(ctx.db, subject.id, kind, params.name, ctx.actor))?.updated_at,
    returns: null,
    async handle({ subject, params, ctx }) {
      const rule = await getProtectedRef(ctx, subject, kind, params.name)
      if (!(await unprotectRef(ctx, subject, rule))) throw noRule()
    },
  })
