import { memberLevels } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { CommaList, DateOnly, Nullable, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { ofProjectsAndGroups, type ProjectOrGroup } from '../holders/project-or-group.ts'
import { Invitation, InvitationResult } from './entity.ts'
import { invitationRow, invitationsOf } from './queries.ts'
import { changeInvitation, type Host, invite, withdrawInvitation } from './service.ts'

const level = OneOf(memberLevels, {
  levels: true,
  description: 'Access level of the new member; owners only in groups',
})
const expiry = Optional(Nullable(DateOnly({ description: 'Expiry date; no access from this day on' })))
const email = Text({ description: 'Invited email address' })

export const invitationRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf, membershipOf }) => {
  const path = `${base}/invitations` as const
  const hostOf = async (held: ProjectOrGroup, ctx: Ctx): Promise<Host> => ({
    holder: holderOf(held),
    name: held.name,
    membership: await membershipOf(held, ctx),
  })
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List pending ${of} invitations`,
      subject,
      allow: 'admin_member',
      params: Params({ query: Optional(Text({ description: 'Part of the email address' })) }),
      paged: true,
      returns: Invitation,
      handle: ({ subject: held, params, page, ctx }) =>
        fetchPage(ctx.db, invitationRow, invitationsOf(holderOf(held), params.query), page),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Invite users to a ${of}`,
      description: 'Invites by email address.',
      subject,
      allow: 'admin_member',
      params: Params({
        email: CommaList(Text(), { description: 'Email addresses, separated by commas; at most 100' }),
        access_level: level,
        expires_at: expiry,
      }),
      returns: InvitationResult,
      handle: async ({ subject: held, params, ctx }) =>
        invite(ctx, await hostOf(held, ctx), params.email, {
          level: params.access_level,
          expiresAt: params.expires_at ?? null,
        }),
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:email`,
      summary: `Update a ${of} invitation`,
      subject,
      allow: 'admin_member',
      params: Params(
        { email, access_level: Optional(level), expires_at: expiry },
        { atLeastOneOf: ['access_level', 'expires_at'] },
      ),
      returns: Invitation,
      handle: async ({ subject: held, params, ctx }) =>
        changeInvitation(ctx, await hostOf(held, ctx), params.email, {
          level: params.access_level,
          expiresAt: params.expires_at,
        }),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:email`,
      summary: `Revoke a ${of} invitation`,
      subject,
      allow: 'admin_member',
      params: Params({ email }),
      returns: null,
      handle: async ({ subject: held, params, ctx }) => withdrawInvitation(ctx, await hostOf(held, ctx), params.email),
    }),
  ]
})
