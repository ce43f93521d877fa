import { Type } from 'typebox'
import { job } from '../../jobs/job.ts'
import { groupMemberChanged, lockAccess, projectMemberChanged } from '../access-index/service.ts'
import { deleteEndedMember, expiredMemberships } from './queries.ts'

/** Clears away memberships that ended. They give no access from their day on; this keeps lists and tables short. */
export const purgeExpiredMembers = job({
  name: 'purge_expired_members',
  input: Type.Object({}),
  key: () => 'purge_expired_members',
  attempts: 3,
  every: { cron: '5 0 * * *', input: {} },
  async run(_input, ctx) {
    for (;;) {
      const ended = await expiredMemberships(ctx.db)
      if (ended.length === 0) return
      for (const { user_id, namespace_id, project_id } of ended)
        await ctx.transaction(async (tx) => {
          await lockAccess(tx)
          // Somebody may have been added anew since the list was read; that membership stays.
          if (namespace_id !== null) {
            const source = { of: 'group', groupId: namespace_id, ancestorIds: [] } as const
            if (await deleteEndedMember(tx, source, user_id)) await groupMemberChanged(tx, namespace_id, user_id)
          }
          if (project_id !== null) {
            const source = { of: 'project', projectId: project_id, ancestorIds: [] } as const
            if (await deleteEndedMember(tx, source, user_id)) await projectMemberChanged(tx, project_id, user_id)
          }
        })
    }
  },
})
