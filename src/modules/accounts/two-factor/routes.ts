import { endpoint } from '../../../api/endpoint.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { forbidden } from '../../../kernel/failure.ts'
import { instance } from '../../instance/index.ts'
import { user } from '../users/subject.ts'
import { RecoveryCodes, TwoFactor, TwoFactorSecret } from './entity.ts'
import { findTwoFactor } from './queries.ts'
import { enableTwoFactor, endOwnTwoFactor, endTwoFactor, renewRecoveryCodes, startTwoFactor } from './service.ts'

const code = Text({ description: 'Code of the authenticator app or recovery code' })

/** The API accepts both methods. */
const disable = (method: 'PUT' | 'PATCH') =>
  endpoint({
    method,
    path: '/users/:id/disable_two_factor',
    summary: "Disable a user's two-factor authentication",
    subject: user,
    allow: 'admin_user',
    status: 204,
    returns: null,
    async handle({ subject, ctx }) {
      // A stolen token alone must not disable the second factor.
      if (subject.id === ctx.actor!.id)
        throw forbidden('Your own second factor ends with a code: DELETE /user/two_factor')
      await endTwoFactor(ctx, subject.id)
    },
  })

export const twoFactorRoutes = [
  endpoint({
    method: 'GET',
    path: '/user/two_factor',
    summary: "Get the caller's two-factor status",
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    returns: TwoFactor,
    handle: async ({ ctx }) =>
      (await findTwoFactor(ctx.db, ctx.actor!.id)) ?? { confirmed_at: null, recovery_codes_left: 0 },
  }),

  endpoint({
    method: 'POST',
    path: '/user/two_factor',
    summary: 'Start setting up two-factor authentication',
    description:
      'Returns a secret for an authenticator app. Two-factor authentication is enabled once it is confirmed.',
    subject: instance,
    allow: 'use',
    params: Params({ password: Text({ description: 'Password of the account' }) }),
    returns: TwoFactorSecret,
    handle: ({ params, ctx }) => startTwoFactor(ctx, params.password),
  }),

  endpoint({
    method: 'POST',
    path: '/user/two_factor/confirm',
    summary: 'Confirm two-factor authentication',
    description: 'Enables two-factor authentication and returns recovery codes.',
    subject: instance,
    allow: 'use',
    params: Params({ code: Text({ description: 'Code of the authenticator app' }) }),
    returns: RecoveryCodes,
    handle: ({ params, ctx }) => enableTwoFactor(ctx, params.code),
  }),

  endpoint({
    method: 'POST',
    path: '/user/two_factor/recovery_codes',
    summary: 'Regenerate recovery codes',
    description: 'The previous recovery codes stop working.',
    subject: instance,
    allow: 'use',
    params: Params({ code }),
    returns: RecoveryCodes,
    handle: ({ params, ctx }) => renewRecoveryCodes(ctx, params.code),
  }),

  endpoint({
    method: 'DELETE',
    path: '/user/two_factor',
    summary: "Disable the caller's two-factor authentication",
    subject: instance,
    allow: 'use',
    params: Params({ code }),
    returns: null,
    handle: ({ params, ctx }) => endOwnTwoFactor(ctx, params.code),
  }),

  disable('PUT'),
  disable('PATCH'),
]
