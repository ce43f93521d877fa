import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { CommaList, Flag, Id, Nullable, OneOf, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { instance } from '../../instance/index.ts'
import { ofProjectsAndGroups } from '../holders/project-or-group.ts'
import { DeployToken, NewDeployToken } from './entity.ts'
import { deployTokenRow, deployTokensOf, findDeployToken } from './queries.ts'
import { deployTokenScopes } from './scopes.ts'
import { createDeployToken, endDeployToken } from './service.ts'

const active = Optional(
  Flag({
    description:
      'Only active tokens (true), or only expired and revoked ones (false); default: all except revoked ones',
  }),
)
const tokenId = Id({ description: 'ID of the token' })

const heldTokenRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf }) => {
  const path = `${base}/deploy_tokens` as const
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List deploy tokens of a ${of}`,
      subject,
      allow: 'read_deploy_token',
      params: Params({ active }),
      paged: true,
      returns: DeployToken,
      handle: ({ subject: held, params, page, ctx }) =>
        fetchPage(ctx.db, deployTokenRow, deployTokensOf(holderOf(held), params.active), page),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:token_id`,
      summary: `Get a ${of} deploy token`,
      subject,
      allow: 'read_deploy_token',
      params: Params({ token_id: tokenId }),
      returns: DeployToken,
      async handle({ subject: held, params, ctx }) {
        const row = await findDeployToken(ctx.db, holderOf(held), params.token_id)
        if (!row) throw rowNotFound()
        return row
      },
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a ${of} deploy token`,
      subject,
      allow: 'admin_deploy_token',
      params: Params({
        name: Text({ description: 'Name of the deploy token' }),
        scopes: CommaList(OneOf(deployTokenScopes), {
          description: 'Scopes of the deploy token: what it may be used for',
        }),
        expires_at: Optional(Nullable(Timestamp({ description: 'Expiry time; default: never' }))),
        username: Optional(
          Nullable(Text({ description: 'Username for the token; default: `gitlab+deploy-token-{n}`' })),
        ),
      }),
      returns: NewDeployToken,
      handle: ({ subject: held, params, ctx }) =>
        createDeployToken(ctx, holderOf(held), {
          name: params.name,
          scopes: params.scopes,
          expiresAt: params.expires_at ?? null,
          username: params.username || null,
        }),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:token_id`,
      summary: `Revoke a ${of} deploy token`,
      subject,
      allow: 'admin_deploy_token',
      params: Params({ token_id: tokenId }),
      returns: null,
      handle: ({ subject: held, params, ctx }) => endDeployToken(ctx, holderOf(held), params.token_id),
    }),
  ]
})

export const deployTokenRoutes = [
  endpoint({
    method: 'GET',
    path: '/deploy_tokens',
    summary: 'List all deploy tokens',
    description: 'Returns the deploy tokens of all projects and groups.',
    subject: instance,
    allow: 'administer',
    params: Params({ active }),
    paged: true,
    returns: DeployToken,
    handle: ({ params, page, ctx }) =>
      fetchPage(ctx.db, deployTokenRow, deployTokensOf(undefined, params.active), page),
  }),
  ...heldTokenRoutes,
]
