import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { fetchPage } from '../../../api/page.ts'
import { DateOnly, Filled, Optional, Params, Whole } from '../../../api/params/types.ts'
import { dateOnly, nullable } from '../../../api/schema.ts'
import { forbidden } from '../../../kernel/failure.ts'
import { instance } from '../../instance/index.ts'
import { avatarUrl, gravatarUrl } from '../../namespaces/index.ts'
import { type ActivityRow, activitiesSince, activityRow, findByPublicEmail } from './activity-queries.ts'

const UserActivity = entity({
  name: 'UserActivity',
  schema: Type.Object({
    username: Type.String({ description: 'Username of the user' }),
    last_activity_on: dateOnly('Day of the last activity, in UTC'),
    last_activity_at: dateOnly('Same as `last_activity_on`'),
  }),
  present: ({ username, last_activity_on }: ActivityRow) => ({
    username,
    last_activity_on,
    last_activity_at: last_activity_on,
  }),
})

const Avatar = entity({
  name: 'Avatar',
  schema: Type.Object({
    avatar_url: nullable(Type.String(), { description: 'URL of the avatar; null if there is none' }),
  }),
  present: (row: { avatar_url: string | null }) => row,
})

export const activityRoutes = [
  endpoint({
    method: 'GET',
    path: '/user/activities',
    summary: 'List users by last activity',
    scopes: ['read_user'],
    subject: instance,
    allow: 'administer',
    params: Params({
      from: Optional(DateOnly({ description: 'First day; default: six months ago' })),
    }),
    paged: true,
    returns: UserActivity,
    handle: ({ params, page, ctx }) => fetchPage(ctx.db, activityRow, activitiesSince(params.from), page),
  }),

  endpoint({
    method: 'GET',
    path: '/avatar',
    summary: 'Get an avatar by email address',
    scopes: ['read_user'],
    subject: instance,
    allow: 'browse',
    params: Params({
      email: Filled({
        description: 'Email address; an uploaded avatar is returned if the user made the address public',
      }),
      size: Whole({
        default: 40,
        minimum: 1,
        maximum: 1024,
        description: 'Width and height in pixels, for the avatar service',
      }),
    }),
    returns: Avatar,
    async handle({ params, ctx }) {
      if (!ctx.actor && ctx.settings.restricted_visibility_levels.includes('public'))
        throw forbidden('Unauthorized access')
      const owner = await findByPublicEmail(ctx.db, params.email)
      return {
        avatar_url: owner?.avatar ? avatarUrl(owner, ctx) : gravatarUrl(params.email, ctx, params.size),
      }
    },
  }),
]
