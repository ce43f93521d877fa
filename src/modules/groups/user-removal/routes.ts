import { endpoint } from '../../../api/endpoint.ts'
import { Flag, Params } from '../../../api/params/types.ts'
import { user } from '../../accounts/index.ts'
import { deleteUser } from './service.ts'

export const userRemovalRoutes = [
  endpoint({
    method: 'DELETE',
    path: '/users/:id',
    summary: 'Delete a user',
    subject: user,
    allow: 'admin_user',
    params: Params({
      hard_delete: Flag({
        default: false,
        description:
          "Also delete the user's contributions and solely owned groups; otherwise they move to a placeholder user",
      }),
    }),
    changedAt: ({ updated_at }) => updated_at,
    returns: null,
    handle: ({ subject, params, ctx }) => deleteUser(ctx, subject.id, params.hard_delete),
  }),
]
