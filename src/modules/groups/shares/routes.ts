import { memberLevels, projectMemberLevels } from '../../../access/levels.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { DateOnly, Id, Nullable, OneOf, Optional, Params } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { getDetail } from '../groups/detail.ts'
import { GroupDetail } from '../groups/entity.ts'
import { group } from '../groups/subject.ts'
import { ProjectGroupLink } from './entity.ts'
import { groupSharedAt, projectSharedAt } from './queries.ts'
import { shareGroup, shareProject, unshareGroup, unshareProject } from './service.ts'

const groupId = Id({ description: 'ID of the group' })
const expiry = Optional(Nullable(DateOnly({ description: 'Expiry date; no access from this day on' })))
const levelDescription = { levels: true, description: 'Maximum access level for members of the group' } as const

export const shareRoutes = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/share',
    summary: 'Share a project with a group',
    subject: project,
    allow: 'share_project',
    params: Params({
      group_id: groupId,
      group_access: OneOf(projectMemberLevels, levelDescription),
      expires_at: expiry,
    }),
    returns: ProjectGroupLink,
    handle: ({ subject, params, ctx }) =>
      shareProject(ctx, subject, params.group_id, {
        level: params.group_access,
        expiresAt: params.expires_at ?? null,
      }),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/share/:group_id',
    summary: 'Unshare a project from a group',
    subject: project,
    allow: 'share_project',
    params: Params({ group_id: groupId }),
    changedAt: (subject, params, ctx) => projectSharedAt(ctx.db, subject.id, params.group_id),
    returns: null,
    handle: ({ subject, params, ctx }) => unshareProject(ctx, subject, params.group_id),
  }),

  endpoint({
    method: 'POST',
    path: '/groups/:id/share',
    summary: 'Share a group with another group',
    subject: group,
    allow: 'admin_group',
    params: Params({
      group_id: groupId,
      group_access: OneOf(memberLevels, levelDescription),
      expires_at: expiry,
    }),
    returns: GroupDetail,
    async handle({ subject, params, ctx }) {
      await shareGroup(ctx, subject, params.group_id, {
        level: params.group_access,
        expiresAt: params.expires_at ?? null,
      })
      return getDetail(ctx, subject.id)
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/groups/:id/share/:group_id',
    summary: 'Unshare a group from another group',
    subject: group,
    allow: 'admin_group',
    params: Params({ group_id: groupId }),
    changedAt: (subject, params, ctx) => groupSharedAt(ctx.db, subject.id, params.group_id),
    returns: null,
    handle: ({ subject, params, ctx }) => unshareGroup(ctx, subject, params.group_id),
  }),
]
