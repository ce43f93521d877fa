import { endpoint } from '../../api/endpoint.ts'
import { fetchPage } from '../../api/page.ts'
import { DateOnly, Flag, Id, List, OneOf, Optional, Params, Text } from '../../api/params/types.ts'
import { notFound, rowNotFound } from '../../kernel/failure.ts'
import { instance } from '../instance/subject.ts'
import { user } from '../users/subject.ts'
import { NewPersonalAccessToken, PersonalAccessToken } from './entity.ts'
import { findManagedToken, getToken, revokeToken, tokenList } from './queries.ts'
import { createToken, tokenScopes } from './service.ts'

const self = (tokenId: number | undefined) => {
  if (tokenId === undefined) throw notFound('Personal access token')
  return tokenId
}

export const tokenRoutes = [
  endpoint({
    method: 'GET',
    path: '/personal_access_tokens',
    summary: "List the caller's tokens; administrators list everybody's",
    subject: instance,
    allow: 'use',
    params: Params({
      user_id: Optional(Id({ description: 'Of this user' })),
      state: Optional(OneOf(['active', 'inactive'], { description: 'Usable or not' })),
      revoked: Optional(Flag({ description: 'Revoked or not' })),
      search: Optional(Text({ description: 'Part of the name' })),
    }),
    paged: true,
    returns: PersonalAccessToken,
    handle: ({ params, page, ctx }) => fetchPage(ctx.db, tokenList(ctx.actor!, params), page),
  }),

  endpoint({
    method: 'GET',
    path: '/personal_access_tokens/self',
    summary: 'The token of this request',
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    returns: PersonalAccessToken,
    async handle({ ctx }) {
      const row = await getToken(ctx.db, self(ctx.actor!.tokenId))
      if (!row) throw rowNotFound()
      return row
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/personal_access_tokens/self',
    summary: 'Revoke the token of this request',
    scopes: ['read_user', 'read_api', 'read_repository', 'write_repository', 'read_registry', 'write_registry', 'sudo'],
    subject: instance,
    allow: 'use',
    returns: null,
    async handle({ ctx }) {
      const id = self(ctx.actor!.tokenId)
      await ctx.transaction((tx) => revokeToken(tx, id))
    },
  }),

  endpoint({
    method: 'GET',
    path: '/personal_access_tokens/:id',
    summary: 'One token, of the caller or for administrators',
    subject: instance,
    allow: 'use',
    params: Params({ id: Id({ description: 'Id of the token' }) }),
    returns: PersonalAccessToken,
    async handle({ params, ctx }) {
      const row = await findManagedToken(ctx.db, ctx.actor!, params.id)
      if (!row) throw rowNotFound()
      return row
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/personal_access_tokens/:id',
    summary: 'Revoke a token',
    subject: instance,
    allow: 'use',
    params: Params({ id: Id({ description: 'Id of the token' }) }),
    returns: null,
    async handle({ params, ctx }) {
      const row = await findManagedToken(ctx.db, ctx.actor!, params.id)
      if (!row) throw rowNotFound()
      await ctx.transaction((tx) => revokeToken(tx, row.id))
    },
  }),

  endpoint({
    method: 'POST',
    path: '/users/:id/personal_access_tokens',
    summary: 'Create a token for a user',
    subject: user,
    allow: 'admin_user',
    params: Params({
      name: Text({ description: 'What it is for' }),
      expires_at: Optional(DateOnly({ description: 'First day on which it is no longer valid (UTC)' })),
      scopes: List(Text(), { description: 'What it may be used for' }),
    }),
    returns: NewPersonalAccessToken,
    handle: ({ subject, params, ctx }) =>
      ctx.transaction((tx) =>
        createToken(tx, {
          userId: subject.id,
          name: params.name,
          scopes: tokenScopes(params.scopes, subject.admin),
          expiresAt: params.expires_at ?? null,
        }),
      ),
  }),
]
