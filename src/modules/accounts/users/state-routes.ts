import { endpoint, raw } from '../../../api/endpoint.ts'
import { Params } from '../../../api/params/types.ts'
import { changeState, type TransitionName } from './states.ts'
import { user } from './subject.ts'

/** Answers `true`, or `false` when the transition does not apply to the current state. */
const transition = (name: TransitionName, summary: string, description?: string) =>
  endpoint({
    method: 'POST',
    path: `/users/:id/${name}`,
    summary,
    ...(description !== undefined && { description }),
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
  transition('block', 'Block a user', 'A blocked user cannot sign in or use the API, Git over HTTP or SSH.'),
  transition('unblock', 'Unblock a user'),
  transition(
    'deactivate',
    'Deactivate a user',
    'Only for users who have been inactive for long enough; signing in reactivates them.',
  ),
  transition('activate', 'Activate a user', 'Only for deactivated users.'),
  transition('ban', 'Ban a user', 'Only for active users.'),
  transition('unban', 'Unban a user'),
]
