import { endpoint } from '../../../api/endpoint.ts'
import { Params, Text } from '../../../api/params/types.ts'
import { forbidden } from '../../../kernel/failure.ts'
import { instance } from '../../instance/index.ts'
import { user } from '../users/subject.ts'
import { RecoveryCodes, TwoFactor, TwoFactorSecret } from './entity.ts'
import { findTwoFactor } from './queries.ts'
import { enableTwoFactor, endOwnTwoFactor, endTwoFactor, renewRecoveryCodes, startTwoFactor } from './service.ts'

const code = Text({ description: 'Of the application, or a recovery code' })

/** The field has both verbs. */
const disable = (method: 'PUT' | 'PATCH') =>
  endpoint({
    method,
    path: '/users/:id/disable_two_factor',
    summary: "Take a user's second factor away",
    subject: user,
    allow: 'admin_user',
    status: 204,
    returns: null,
    async handle({ subject, ctx }) {
      // Whoever has his token only must not be able to.
      if (subject.id === ctx.actor!.id)
        throw forbidden('Your own second factor ends with a code: DELETE /user/two_factor')
      await endTwoFactor(ctx, subject.id)
    },
  })

export const twoFactorRoutes = [
  endpoint({
    method: 'GET',
    path: '/user/two_factor',
    summary: 'Whether the caller has a second factor',
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
    summary: 'Begin with a second factor: a secret for an application that makes codes',
    subject: instance,
    allow: 'use',
    params: Params({ password: Text({ description: 'Of the account' }) }),
    returns: TwoFactorSecret,
    handle: ({ params, ctx }) => startTwoFactor(ctx, params.password),
  }),

  endpoint({
    method: 'POST',
    path: '/user/two_factor/confirm',
    summary: 'Put the second factor in force',
    subject: instance,
    allow: 'use',
    params: Params({ code: Text({ description: 'Of the application' }) }),
    returns: RecoveryCodes,
    handle: ({ params, ctx }) => enableTwoFactor(ctx, params.code),
  }),

  endpoint({
    method: 'POST',
    path: '/user/two_factor/recovery_codes',
    summary: 'Put other recovery codes in the place of those there are',
    subject: instance,
    allow: 'use',
    params: Params({ code }),
    returns: RecoveryCodes,
    handle: ({ params, ctx }) => renewRecoveryCodes(ctx, params.code),
  }),

  endpoint({
    method: 'DELETE',
    path: '/user/two_factor',
    summary: 'Do without the second factor',
    subject: instance,
    allow: 'use',
    params: Params({ code }),
    returns: null,
    handle: ({ params, ctx }) => endOwnTwoFactor(ctx, params.code),
  }),

  disable('PUT'),
  disable('PATCH'),
]
