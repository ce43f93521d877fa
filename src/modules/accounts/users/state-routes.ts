import { endpoint, raw } from '../../../api/endpoint.ts'
import { Params } from '../../../api/params/types.ts'
import { changeState, type TransitionName } from './states.ts'
import { user } from './subject.ts'

/** The answer is `true`, or `false` when the state was one that the call leaves alone. */
const transition = (name: TransitionName, summary: string) =>
  endpoint({
    method: 'POST',
    path: `/users/:id/${name}`,
    summary,
    subject: user,
    allow: 'admin_user',
    params: Params({}),
    returns: raw('application/json'),
    handle: async ({ subject, ctx }) => ({
      body: Buffer.from(String(await changeState(ctx, subject.id, name))),
      contentType: 'application/json',
    }),
  })

export const stateRoutes = [
  transition('block', 'Block a user: no door is open to him'),
  transition('unblock', 'Unblock a user'),
  transition('deactivate', 'Deactivate a user who was away long enough; signing in takes that back'),
  transition('activate', 'Activate a deactivated user'),
  transition('ban', 'Ban an active user'),
  transition('unban', 'Take back a ban'),
]
