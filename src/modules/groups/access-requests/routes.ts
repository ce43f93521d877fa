import { levels, memberLevels, projectMemberLevels } from '../../../access/levels.ts'
import { allowsNow } from '../../../api/allows-now.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Params, Whole } from '../../../api/params/types.ts'
import { ofProjectsAndGroups, type ProjectOrGroup } from '../holders/project-or-group.ts'
import { Member } from '../members/entity.ts'
import { AccessRequester } from './entity.ts'
import { accessRequestRow, accessRequestsOf } from './queries.ts'
import { type Asked, approveRequest, endRequest, requestAccess } from './service.ts'

const userId = Whole({ maximum: Number.MAX_SAFE_INTEGER, description: 'User ID of the requester' })

export const accessRequestRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf, membershipOf }) => {
  const path = `${base}/access_requests` as const
  const askedOf = (held: ProjectOrGroup): Asked => ({ holder: holderOf(held), level: held.facts.level })
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List access requests of a ${of}`,
      subject,
      allow: 'admin_member',
      paged: true,
      returns: AccessRequester,
      handle: ({ subject: held, page, ctx }) =>
        fetchPage(ctx.db, accessRequestRow, accessRequestsOf(askedOf(held).holder), page),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Request access to a ${of}`,
      subject,
      allow: 'request_access',
      returns: AccessRequester,
      handle: async ({ subject: held, ctx }) => requestAccess(ctx, askedOf(held), await membershipOf(held, ctx)),
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:user_id/approve`,
      summary: `Approve a ${of} access request`,
      description: 'The requester becomes a member.',
      subject,
      allow: 'admin_member',
      params: Params({
        user_id: userId,
        access_level: Whole({
          default: levels.developer,
          known: of === 'project' ? projectMemberLevels : memberLevels,
          levels: true,
          description: 'Access level of the new member',
        }),
      }),
      status: 201,
      returns: Member,
      handle: async ({ subject: held, params, ctx }) =>
        approveRequest(ctx, askedOf(held), await membershipOf(held, ctx), {
          userId: params.user_id,
          level: params.access_level,
        }),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:user_id`,
      summary: `Delete a ${of} access request`,
      description: 'Members who manage access deny the request; requesters withdraw their own.',
      subject,
      // Callers who can see it may withdraw their own request; for requests of others the row decides.
      allow: 'read_member',
      params: Params({ user_id: userId }),
      returns: null,
      handle: async ({ subject: held, params, ctx }) =>
        endRequest(ctx, askedOf(held), await membershipOf(held, ctx), params.user_id, (tx) =>
          allowsNow(subject, 'admin_member', held.id, ctx, tx),
        ),
    }),
  ]
})
