import { Type } from 'typebox'
import { endpoint, raw } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { File, Nullable, Params } from '../../../api/params/types.ts'
import { nullable } from '../../../api/schema.ts'
import { editUser, findUser, type UserRow } from '../../accounts/index.ts'
import { group } from '../../groups/index.ts'
import { instance } from '../../instance/index.ts'
import { avatarUrl } from '../../namespaces/index.ts'
import { project } from '../../projects/index.ts'
import { openPicture } from './service.ts'

const OwnAvatar = entity({
  name: 'OwnAvatar',
  schema: Type.Object({
    avatar_url: nullable(Type.String({ description: 'URL of the avatar; default: that of the avatar service' })),
  }),
  present: (row: UserRow, ctx) => ({ avatar_url: avatarUrl(row, ctx) }),
})

export const pictureRoutes = [
  endpoint({
    method: 'PUT',
    path: '/user/avatar',
    summary: "Update the caller's avatar",
    subject: instance,
    allow: 'use',
    params: Params({ avatar: Nullable(File({ description: 'Avatar image; empty removes it' })) }),
    returns: OwnAvatar,
    handle: async ({ params: { avatar }, ctx }) =>
      editUser(ctx, (await findUser(ctx.db, ctx.actor!.id))!, { avatar, skip_reconfirmation: false }),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/avatar',
    summary: 'Get the avatar of a group',
    subject: group,
    allow: 'read_group',
    returns: raw('image/*'),
    handle: ({ subject, reply, ctx }) => openPicture(ctx, reply, 'group', subject.id),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/avatar',
    summary: 'Get the avatar of a project',
    subject: project,
    allow: 'read_project',
    returns: raw('image/*'),
    handle: ({ subject, reply, ctx }) => openPicture(ctx, reply, 'project', subject.id),
  }),
]
