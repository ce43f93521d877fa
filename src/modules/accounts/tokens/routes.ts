import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Flag, Id, OneOf, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { forbidden, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { instance } from '../../instance/index.ts'
import { refuseGhost, user } from '../users/subject.ts'
import { NewPersonalAccessToken, PersonalAccessToken } from './entity.ts'
import { limitParams, limitsOf, newTokenParams, rotationParams } from './params.ts'
import { findManagedToken, getToken, type TokenRow, tokenList, tokenRow } from './queries.ts'
import {
  createTokenAs,
  endToken,
  mayGive,
  ownTokenScopes,
  refuseReuse,
  rotateToken,
  tokenExpiry,
  tokenScopes,
} from './service.ts'

/** The token of this request; OAuth tokens have endpoints of their own. */
async function shown(ctx: Ctx): Promise<TokenRow> {
  const id = ctx.actor!.tokenId
  const row = id === undefined ? undefined : await getToken(ctx.db, id)
  if (!row || row.kind === 'oauth') throw notFound('Personal access token')
  return row
}

async function managed(ctx: Ctx, id: number): Promise<TokenRow> {
  const row = await findManagedToken(ctx.db, ctx.actor!, id)
  if (!row) throw rowNotFound()
  return row
}

/** A temporary or impersonation token must not be turned into a longer-lived token of the account. */
async function requireOwnCredential({ actor, db }: Ctx): Promise<void> {
  const tokenId = actor!.tokenId
  if (actor!.bot || (tokenId !== undefined && (await getToken(db, tokenId))?.kind !== 'personal')) throw forbidden()
}

const tokenId = Id({ description: 'ID of the token' })

export const tokenRoutes = [
  endpoint({
    method: 'GET',
    path: '/personal_access_tokens',
    summary: 'List personal access tokens',
    description: 'Returns the tokens of the caller; administrators see the tokens of all users.',
    subject: instance,
    allow: 'use',
    params: Params({
      user_id: Optional(Id({ description: 'Only of this user' })),
      state: Optional(OneOf(['active', 'inactive'], { description: 'Only active tokens or only inactive ones' })),
      revoked: Optional(Flag({ description: 'Only revoked tokens (true) or only others (false)' })),
      search: Optional(Text({ description: 'Part of the name' })),
      created_before: Optional(Timestamp({ description: 'Created before this time' })),
      created_after: Optional(Timestamp({ description: 'Created after this time' })),
      last_used_before: Optional(Timestamp({ description: 'Last used before this time' })),
      last_used_after: Optional(Timestamp({ description: 'Last used after this time' })),
    }),
    paged: true,
    returns: PersonalAccessToken,
    handle: ({ params, page, ctx }) => fetchPage(ctx.db, tokenRow, tokenList(ctx.actor!, params), page),
  }),

  endpoint({
    method: 'GET',
    path: '/personal_access_tokens/self',
    summary: 'Get the current token',
    description: 'Returns the token that authenticates this request.',
    scopes: ['read_user'],
    subject: instance,
    allow: 'know_oneself',
    returns: PersonalAccessToken,
    handle: ({ ctx }) => shown(ctx),
  }),

  endpoint({
    method: 'DELETE',
    path: '/personal_access_tokens/self',
    summary: 'Revoke the current token',
    description: 'Revokes the token that authenticates this request.',
    scopes: ['read_user', 'read_api', 'read_repository', 'write_repository', 'read_registry', 'write_registry', 'sudo'],
    subject: instance,
    allow: 'know_oneself',
    returns: null,
    async handle({ ctx }) {
      const row = await shown(ctx)
      await ctx.transaction((tx) => endToken(tx, ctx, row))
    },
  }),

  endpoint({
    method: 'POST',
    path: '/personal_access_tokens/self/rotate',
    summary: 'Rotate the current token',
    description: 'Revokes the token that authenticates this request and returns its replacement.',
    subject: instance,
    allow: 'know_oneself',
    status: 200,
    params: Params(rotationParams),
    onRevokedToken: refuseReuse,
    returns: NewPersonalAccessToken,
    async handle({ params, ctx }) {
      const { id, kind } = await shown(ctx)
      // An administrator made it for a limited time: its user could extend that for ever.
      if (kind === 'impersonation') throw forbidden()
      return rotateToken(ctx, id, params.expires_at)
    },
  }),

  endpoint({
    method: 'GET',
    path: '/personal_access_tokens/:id',
    summary: 'Get a personal access token',
    description: 'Administrators may read the tokens of all users.',
    subject: instance,
    allow: 'use',
    params: Params({ id: tokenId }),
    returns: PersonalAccessToken,
    handle: ({ params, ctx }) => managed(ctx, params.id),
  }),

  endpoint({
    method: 'DELETE',
    path: '/personal_access_tokens/:id',
    summary: 'Revoke a personal access token',
    subject: instance,
    allow: 'use',
    params: Params({ id: tokenId }),
    returns: null,
    async handle({ params, ctx }) {
      const row = await managed(ctx, params.id)
      await ctx.transaction((tx) => endToken(tx, ctx, row))
    },
  }),

  endpoint({
    method: 'POST',
    path: '/personal_access_tokens/:id/rotate',
    summary: 'Rotate a personal access token',
    description: 'Revokes the token and returns its replacement.',
    subject: instance,
    allow: 'use',
    status: 200,
    params: Params({ id: tokenId, ...rotationParams }),
    onRevokedToken: refuseReuse,
    returns: NewPersonalAccessToken,
    async handle({ params, ctx }) {
      const row = await managed(ctx, params.id)
      await requireOwnCredential(ctx)
      // The new token could do what the caller's own token may not.
      if (!mayGive(ctx.actor!, row.scopes)) throw forbidden()
      return rotateToken(ctx, row.id, params.expires_at)
    },
  }),

  endpoint({
    method: 'POST',
    path: '/user/personal_access_tokens',
    summary: 'Create a token for the caller',
    description: 'The new token cannot have more rights than the token that authenticates this request.',
    subject: instance,
    allow: 'use',
    params: Params({ ...newTokenParams, ...limitParams }),
    returns: NewPersonalAccessToken,
    async handle({ params, ctx }) {
      const actor = ctx.actor!
      await requireOwnCredential(ctx)
      return createTokenAs(ctx, {
        kind: 'personal',
        userId: actor.id,
        name: params.name,
        scopes: ownTokenScopes(params.scopes, actor),
        expiresAt: tokenExpiry(ctx, params.expires_at ?? null),
        limits: limitsOf(params),
      })
    },
  }),

  endpoint({
    method: 'POST',
    path: '/users/:id/personal_access_tokens',
    summary: 'Create a token for a user',
    subject: user,
    allow: 'admin_user',
    params: Params({ ...newTokenParams, ...limitParams }),
    returns: NewPersonalAccessToken,
    async handle({ subject, params, ctx }) {
      refuseGhost(subject)
      return createTokenAs(ctx, {
        kind: 'personal',
        userId: subject.id,
        name: params.name,
        scopes: tokenScopes(params.scopes, subject.admin),
        expiresAt: tokenExpiry(ctx, params.expires_at ?? null),
        limits: limitsOf(params),
      })
    },
  }),
]
