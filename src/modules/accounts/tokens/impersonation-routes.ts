import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, OneOf, Params } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { refuseGhost, user } from '../users/subject.ts'
import { ImpersonationToken, NewImpersonationToken } from './entity.ts'
import { limitParams, limitsOf, newTokenParams } from './params.ts'
import { findImpersonationToken, impersonationTokenList, type TokenRow, tokenRow } from './queries.ts'
import { createTokenAs, endToken, tokenExpiry, tokenScopes } from './service.ts'

const path = '/users/:id/impersonation_tokens'
const tokenId = Id({ description: 'ID of the token' })

async function get(ctx: Ctx, userId: number, id: number): Promise<TokenRow> {
  const row = await findImpersonationToken(ctx.db, userId, id)
  if (!row) throw notFound('Impersonation Token')
  return row
}

/** Impersonation tokens: administrators act as the user with them; the user does not see them. */
export const impersonationTokenRoutes = [
  endpoint({
    method: 'GET',
    path,
    summary: 'List impersonation tokens of a user',
    scopes: ['read_user'],
    subject: user,
    allow: 'admin_user',
    params: Params({
      state: OneOf(['all', 'active', 'inactive'], {
        default: 'all',
        description: 'Only active tokens or only inactive ones',
      }),
    }),
    paged: true,
    returns: ImpersonationToken,
    handle: ({ subject, params, page, ctx }) =>
      fetchPage(
        ctx.db,
        tokenRow,
        impersonationTokenList(subject.id, params.state === 'all' ? undefined : params.state),
        page,
      ),
  }),

  endpoint({
    method: 'GET',
    path: `${path}/:impersonation_token_id`,
    summary: 'Get an impersonation token',
    scopes: ['read_user'],
    subject: user,
    allow: 'admin_user',
    params: Params({ impersonation_token_id: tokenId }),
    returns: ImpersonationToken,
    handle: ({ subject, params, ctx }) => get(ctx, subject.id, params.impersonation_token_id),
  }),

  endpoint({
    method: 'POST',
    path,
    summary: 'Create an impersonation token',
    description: 'The token acts as the user. Its value is returned only once.',
    subject: user,
    allow: 'admin_user',
    params: Params({ ...newTokenParams, ...limitParams }),
    returns: NewImpersonationToken,
    async handle({ subject, params, ctx }) {
      refuseGhost(subject)
      return createTokenAs(ctx, {
        kind: 'impersonation',
        userId: subject.id,
        name: params.name,
        scopes: tokenScopes(params.scopes, subject.admin),
        expiresAt: tokenExpiry(ctx, params.expires_at ?? null),
        limits: limitsOf(params),
      })
    },
  }),

  endpoint({
    method: 'DELETE',
    path: `${path}/:impersonation_token_id`,
    summary: 'Revoke an impersonation token',
    subject: user,
    allow: 'admin_user',
    params: Params({ impersonation_token_id: tokenId }),
    changedAt: async (subject, params, ctx) =>
      (await findImpersonationToken(ctx.db, subject.id, params.impersonation_token_id))?.created_at,
    returns: null,
    async handle({ subject, params, ctx }) {
      const row = await get(ctx, subject.id, params.impersonation_token_id)
      await ctx.transaction((tx) => endToken(tx, ctx, row))
    },
  }),
]
