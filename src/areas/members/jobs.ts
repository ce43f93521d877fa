import { Type } from 'typebox'
import { job } from '../../jobs/job.ts'
import { groupMemberChanged, lockAccess, projectMemberChanged } from '../access-index/service.ts'
import { deleteMember, expiredMemberships } from './queries.ts'

/** Clears away memberships that ended. They give no access from their day on; this keeps lists and tables short. */
export const purgeExpiredMembers = job({
  name: 'purge_expired_members',
  input: Type.Object({}),
  key: () => 'purge_expired_members',
  attempts: 3,
  every: { cron: '5 0 * * *', input: {} },
  async run(_input, ctx) {
    for (const { user_id, namespace_id, project_id } of await expiredMemberships(ctx.db))
      await ctx.transaction(async (tx) => {
        await lockAccess(tx)
        if (namespace_id !== null) {
          await deleteMember(tx, { of: 'group', groupId: namespace_id, ancestorIds: [] }, user_id)
          await groupMemberChanged(tx, namespace_id, user_id)
        }
        if (project_id !== null) {
          await deleteMember(tx, { of: 'project', projectId: project_id, ancestorIds: [] }, user_id)
          await projectMemberChanged(tx, project_id, user_id)
        }
      })
  },
})
