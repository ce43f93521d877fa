import type { TObject } from 'typebox'
import { memberLevels, projectMemberLevels } from '../../../access/levels.ts'
import { allowsNow } from '../../../api/allows-now.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { type Endpoint, endpoint, type Subject } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { DateOnly, List, Nullable, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { type ProjectSubject, project } from '../../projects/index.ts'
import { type GroupSubject, group } from '../groups/subject.ts'
import { Member } from './entity.ts'
import { findAnyMember, findMember, listAllMembers, listMembers, memberRow } from './queries.ts'
import { addMember, editMember, groupMembership, type Membership, projectMembership, removeMember } from './service.ts'

type Holder = ProjectSubject | GroupSubject
type MemberAbility = 'read_member' | 'admin_member'

const userId = Whole({ maximum: Number.MAX_SAFE_INTEGER, description: 'ID of the user' })
const expiry = DateOnly({ description: 'Expiry date; no access from this day on' })

const accessLevel = (of: 'group' | 'project') =>
  Whole({
    known: of === 'project' ? projectMemberLevels : memberLevels,
    levels: true,
    description: 'Access level of the member',
  })

const filters = {
  query: Optional(Text({ description: 'Part of the name or username' })),
  user_ids: Optional(List(Whole({ maximum: Number.MAX_SAFE_INTEGER }), { description: 'Only these users' })),
}

/** Endpoints of members, shared by groups and projects. */
const memberRoutes = <T extends Holder, A extends string>(
  of: 'group' | 'project',
  subject: Subject<T, A | MemberAbility, TObject>,
  membershipOf: (holder: T, ctx: Ctx) => Promise<Membership>,
): readonly Endpoint[] => [
  endpoint({
    method: 'GET',
    path: `/${of}s/:id/members`,
    summary: `List direct members of a ${of}`,
    subject,
    allow: 'read_member',
    params: Params(filters),
    paged: true,
    returns: Member,
    handle: async ({ subject: holder, params, page, ctx }) =>
      fetchPage(ctx.db, memberRow, listMembers(await membershipOf(holder, ctx), params), page),
  }),

  endpoint({
    method: 'GET',
    path: `/${of}s/:id/members/all`,
    summary: `List all members of a ${of}`,
    description: 'Includes inherited and invited members; each user appears once.',
    subject,
    allow: 'read_member',
    params: Params(filters),
    paged: true,
    returns: Member,
    handle: async ({ subject: holder, params, page, ctx }) =>
      fetchPage(ctx.db, memberRow, listAllMembers(await membershipOf(holder, ctx), params), page),
  }),

  endpoint({
    method: 'GET',
    path: `/${of}s/:id/members/:user_id`,
    summary: `Get a direct ${of} member`,
    subject,
    allow: 'read_member',
    params: Params({ user_id: userId }),
    returns: Member,
    async handle({ subject: holder, params, ctx }) {
      const row = await findMember(ctx.db, await membershipOf(holder, ctx), params.user_id)
      if (!row) throw rowNotFound()
      return row
    },
  }),

  endpoint({
    method: 'GET',
    path: `/${of}s/:id/members/all/:user_id`,
    summary: `Get a ${of} member`,
    description: 'Finds inherited and invited members as well.',
    subject,
    allow: 'read_member',
    params: Params({ user_id: userId }),
    returns: Member,
    async handle({ subject: holder, params, ctx }) {
      const row = await findAnyMember(ctx.db, await membershipOf(holder, ctx), params.user_id)
      if (!row) throw rowNotFound()
      return row
    },
  }),

  endpoint({
    method: 'POST',
    path: `/${of}s/:id/members`,
    summary: `Add a ${of} member`,
    subject,
    allow: 'admin_member',
    params: Params({
      user_id: userId,
      access_level: accessLevel(of),
      expires_at: Optional(Nullable(expiry)),
    }),
    returns: Member,
    handle: async ({ subject: holder, params, ctx }) =>
      addMember(ctx, await membershipOf(holder, ctx), {
        userId: params.user_id,
        level: params.access_level,
        expiresAt: params.expires_at ?? null,
      }),
  }),

  endpoint({
    method: 'PUT',
    path: `/${of}s/:id/members/:user_id`,
    summary: `Update a ${of} member`,
    subject,
    allow: 'admin_member',
    params: Params({
      user_id: userId,
      access_level: accessLevel(of),
      expires_at: Optional(Nullable(expiry)),
    }),
    returns: Member,
    handle: async ({ subject: holder, params, ctx }) =>
      editMember(ctx, await membershipOf(holder, ctx), {
        userId: params.user_id,
        level: params.access_level,
        expiresAt: params.expires_at,
      }),
  }),

  endpoint({
    method: 'DELETE',
    path: `/${of}s/:id/members/:user_id`,
    summary: `Remove a ${of} member`,
    description: 'Members may remove themselves to leave.',
    subject,
    // Callers who can read the members may leave; for removing others the row decides.
    allow: 'read_member',
    params: Params({ user_id: userId }),
    changedAt: async (holder, params, ctx) =>
      (await findMember(ctx.db, await membershipOf(holder, ctx), params.user_id))?.updated_at,
    returns: null,
    handle: async ({ subject: holder, params, ctx }) =>
      removeMember(ctx, await membershipOf(holder, ctx), params.user_id, (tx) =>
        allowsNow(subject, 'admin_member', holder.id, ctx, tx),
      ),
  }),
]

export const groupMemberRoutes = memberRoutes('group', group, async (holder) => groupMembership(holder))
export const projectMemberRoutes = memberRoutes('project', project, (holder, ctx) =>
  projectMembership(ctx.db, ctx.plan, holder),
)
