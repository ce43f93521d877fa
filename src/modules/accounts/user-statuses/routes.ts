import { endpoint } from '../../../api/endpoint.ts'
import { Nullable, Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { userByIdOrName } from '../users/subject.ts'
import { UserStatus } from './entity.ts'
import { setStatus, statusOf } from './service.ts'

export const userStatusRoutes = [
  endpoint({
    method: 'GET',
    path: '/user/status',
    summary: "Get the caller's status",
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    returns: UserStatus,
    handle: ({ ctx }) => statusOf(ctx, ctx.actor!.id),
  }),

  endpoint({
    method: 'PUT',
    path: '/user/status',
    summary: "Set the caller's status",
    description: 'An empty emoji and an empty message clear the status.',
    subject: instance,
    allow: 'use',
    params: Params({
      emoji: Optional(
        Nullable(Text({ description: 'Short name of an emoji; default with a message: speech_balloon' })),
      ),
      message: Optional(
        Nullable(Text({ description: 'At most 100 characters; may contain emoji codes such as `:coffee:`' })),
      ),
    }),
    returns: UserStatus,
    handle: ({ params, ctx }) => setStatus(ctx, params.emoji ?? '', params.message ?? ''),
  }),

  endpoint({
    method: 'GET',
    path: '/users/:user_id/status',
    summary: 'Get the status of a user',
    scopes: ['read_user'],
    subject: userByIdOrName,
    allow: 'read_user',
    returns: UserStatus,
    handle: ({ subject, ctx }) => statusOf(ctx, subject.id),
  }),
]
