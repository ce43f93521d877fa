import { Type } from 'typebox'
import type { Tx } from '../../db/db.ts'
import { job } from '../../jobs/job.ts'
import { lockAccess } from '../access-index/service.ts'
import { findGroup } from '../groups/queries.ts'
import { groupMembership, type Membership, projectMembership } from '../members/service.ts'
import { findProject } from '../projects/queries.ts'
import { findIdleBots } from './queries.ts'
import { removeBot } from './service.ts'

type Idle = Awaited<ReturnType<typeof findIdleBots>>[number]

async function membershipOf(tx: Tx, { project_id, namespace_id }: Idle): Promise<Membership | undefined> {
  if (project_id !== null) {
    const project = await findProject(tx, null, project_id)
    return project && projectMembership(tx, project)
  }
  const group = namespace_id === null ? undefined : await findGroup(tx, null, namespace_id)
  return group && groupMembership(group)
}

/** Removes bots whose tokens have ended, or whose project or group is gone. They can do nothing from that day on. */
export const removeIdleBots = job({
  name: 'remove_idle_bots',
  input: Type.Object({}),
  key: () => 'remove_idle_bots',
  attempts: 3,
  every: { cron: '40 0 * * *', input: {} },
  async run(_input, ctx) {
    // Each is removed or blocked, so that none is found twice.
    for (;;) {
      const idle = await findIdleBots(ctx.db)
      if (idle.length === 0) return
      for (const bot of idle)
        await ctx.transaction(async (tx) => {
          await lockAccess(tx)
          await removeBot(tx, bot.id, await membershipOf(tx, bot))
        })
    }
  },
})
