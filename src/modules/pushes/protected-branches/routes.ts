import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Filled, Flag, Optional, Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { oneRule, ruleName, unprotecting } from '../protected-refs/endpoints.ts'
import { accessLevels } from '../protected-refs/levels.ts'
import { allowedParam, changedParam, grantsAmong, levelParam } from '../protected-refs/params.ts'
import { listProtectedRefs, protectedRefRow } from '../protected-refs/queries.ts'
import { changeProtectedRef, getProtectedRef, protectRef } from '../protected-refs/service.ts'
import { grantChanges } from './changes.ts'
import { ProtectedBranch } from './entity.ts'

const forcePush = { description: 'Users who may push may also force-push' }
const codeOwners = {
  description: 'Changes of files with code owners require a merge request',
  tier: 'premium',
} as const

export const protectedBranchRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/protected_branches',
    summary: 'List protected branches',
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({ search: Optional(Text({ description: 'Part of the name' })) }),
    paged: true,
    returns: ProtectedBranch,
    handle: ({ subject, params, page, ctx }) =>
      fetchPage(ctx.db, protectedRefRow, listProtectedRefs(subject.id, 'branch', ctx.actor, params), page),
  }),

  oneRule('branch', ProtectedBranch),

  endpoint({
    method: 'POST',
    path: '/projects/:id/protected_branches',
    summary: 'Protect a branch or pattern',
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({
      name: Filled({ description: 'Name; `*` matches any text' }),
      push_access_level: levelParam('push', 'push; default: 40'),
      merge_access_level: levelParam('merge', 'merge; default: 40'),
      unprotect_access_level: levelParam('unprotect', 'unprotect; default: 40'),
      allowed_to_push: allowedParam('push'),
      allowed_to_merge: allowedParam('merge'),
      allowed_to_unprotect: allowedParam('unprotect'),
      allow_force_push: Flag({ default: false, ...forcePush }),
      code_owner_approval_required: Optional(Flag(codeOwners)),
    }),
    returns: ProtectedBranch,
    handle: ({ subject, params, ctx }) =>
      protectRef(
        ctx,
        subject,
        {
          kind: 'branch',
          name: params.name,
          allowForcePush: params.allow_force_push,
          codeOwnerApprovalRequired: params.code_owner_approval_required ?? false,
        },
        {
          push: grantsAmong(params.push_access_level, params.allowed_to_push, accessLevels.maintainers),
          merge: grantsAmong(params.merge_access_level, params.allowed_to_merge, accessLevels.maintainers),
          unprotect: grantsAmong(params.unprotect_access_level, params.allowed_to_unprotect, accessLevels.maintainers),
        },
      ),
  }),

  endpoint({
    method: 'PATCH',
    path: '/projects/:id/protected_branches/:name',
    summary: 'Update a protected branch',
    subject: project,
    allow: 'admin_protected_ref',
    params: Params({
      name: ruleName,
      allowed_to_push: changedParam('push'),
      allowed_to_merge: changedParam('merge'),
      allowed_to_unprotect: changedParam('unprotect'),
      allow_force_push: Optional(Flag(forcePush)),
      code_owner_approval_required: Optional(Flag(codeOwners)),
    }),
    returns: ProtectedBranch,
    async handle({ subject, params, ctx }) {
      const rule = await getProtectedRef(ctx, subject, 'branch', params.name)
      return changeProtectedRef(
        ctx,
        subject,
        rule,
        {
          allowForcePush: params.allow_force_push,
          codeOwnerApprovalRequired: params.code_owner_approval_required,
        },
        {
          ...grantChanges(rule, 'push', params.allowed_to_push),
          ...grantChanges(rule, 'merge', params.allowed_to_merge),
          ...grantChanges(rule, 'unprotect', params.allowed_to_unprotect),
        },
      )
    },
  }),

  unprotecting('branch'),
]
