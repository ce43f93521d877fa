import { levels } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, OneOf, Optional, Params } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { newTokenParams, refuseReuse, rotationParams, tokenExpiry, tokenScopes } from '../../accounts/index.ts'
import { ofProjectsAndGroups, type ProjectOrGroup } from '../holders/project-or-group.ts'
import { NewResourceAccessToken, ResourceAccessToken } from './entity.ts'
import { findResourceToken, resourceTokenRow, resourceTokensOf } from './queries.ts'
import { createResourceToken, endResourceToken, getResourceToken, type Place, rotateResourceToken } from './service.ts'

const tokenId = Id({ description: 'ID of the token' })

const { guest, reporter, developer, maintainer, owner } = levels
const projectLevels = [guest, reporter, developer, maintainer]

export const resourceTokenRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf, membershipOf }) => {
  const path = `${base}/access_tokens` as const
  const accessLevels = of === 'project' ? projectLevels : [...projectLevels, owner]
  const placeOf = async (held: ProjectOrGroup, ctx: Ctx): Promise<Place> => ({
    holder: holderOf(held),
    membership: await membershipOf(held, ctx),
    level: held.facts.level,
  })
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List access tokens of a ${of}`,
      subject,
      allow: 'admin_access_token',
      params: Params({
        state: Optional(OneOf(['active', 'inactive'], { description: 'Only active tokens or only inactive ones' })),
      }),
      paged: true,
      returns: ResourceAccessToken,
      handle: async ({ subject: held, params, page, ctx }) =>
        fetchPage(ctx.db, resourceTokenRow, resourceTokensOf(holderOf(held), params.state), page),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a ${of} access token`,
      description: `Creates a bot user that is a member of the ${of} and owns the token.`,
      subject,
      allow: 'admin_access_token',
      params: Params({
        ...newTokenParams,
        access_level: OneOf(accessLevels, {
          default: maintainer,
          levels: true,
          description: 'Access level of the bot user',
        }),
      }),
      returns: NewResourceAccessToken,
      handle: async ({ subject: held, params, ctx }) =>
        createResourceToken(ctx, await placeOf(held, ctx), {
          name: params.name,
          scopes: tokenScopes(params.scopes, false),
          level: params.access_level,
          expiresAt: tokenExpiry(ctx, params.expires_at ?? null),
        }),
    }),

    endpoint({
      method: 'POST',
      path: `${path}/self/rotate`,
      summary: `Rotate the current ${of} token`,
      description: 'Revokes the token that authenticates this request and returns its replacement.',
      subject,
      allow: 'rotate_own_token',
      status: 200,
      params: Params(rotationParams),
      onRevokedToken: refuseReuse,
      returns: NewResourceAccessToken,
      async handle({ subject: held, params, ctx }) {
        const place = await placeOf(held, ctx)
        const own = ctx.actor?.tokenId
        const row = own === undefined ? undefined : await findResourceToken(ctx.db, place.holder, own)
        if (!row) throw notFound('Access token')
        return rotateResourceToken(ctx, place, row.id, params.expires_at)
      },
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:token_id`,
      summary: `Get a ${of} access token`,
      subject,
      allow: 'admin_access_token',
      params: Params({ token_id: tokenId }),
      returns: ResourceAccessToken,
      handle: async ({ subject: held, params, ctx }) =>
        getResourceToken(ctx, await placeOf(held, ctx), params.token_id),
    }),

    endpoint({
      method: 'POST',
      path: `${path}/:token_id/rotate`,
      summary: `Rotate a ${of} access token`,
      description: 'Revokes the token and returns its replacement.',
      subject,
      allow: 'admin_access_token',
      status: 200,
      params: Params({ token_id: tokenId, ...rotationParams }),
      onRevokedToken: refuseReuse,
      returns: NewResourceAccessToken,
      handle: async ({ subject: held, params, ctx }) =>
        rotateResourceToken(ctx, await placeOf(held, ctx), params.token_id, params.expires_at),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:token_id`,
      summary: `Revoke a ${of} access token`,
      description:
        'Deletes the bot user of the token as well, unless the token was rotated and its replacement is usable.',
      subject,
      allow: 'admin_access_token',
      params: Params({ token_id: tokenId }),
      returns: null,
      handle: async ({ subject: held, params, ctx }) =>
        endResourceToken(ctx, await placeOf(held, ctx), params.token_id),
    }),
  ]
})
