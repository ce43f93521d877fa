import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { inBatches } from '../../../db/batches.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import { cleanupDefaults } from '../../projects/index.ts'
import { deleteSelected } from '../tags/bulk-deletion.ts'
import { findCleanupPolicy, repositoryIdsOf, scheduleCleanups, takeDueCleanups } from './queries.ts'

/** Deletes the tags that the cleanup policy of a project chooses, in all its repositories. */
export const cleanUpProject = job({
  name: 'clean_up_container_images',
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `clean_up_container_images:${projectId}`,
  attempts: 3,
  async run({ projectId }, ctx) {
    const current = () => findCleanupPolicy(ctx.db, projectId)
    let tags = 0
    for (const repositoryId of await repositoryIdsOf(ctx.db, projectId)) {
      // It may have been changed or disabled, or the project archived, since the job was enqueued.
      const policy = await current()
      const { name_regex, name_regex_keep, keep_n, older_than } = { ...cleanupDefaults, ...policy }
      if (name_regex === null) break
      const selection = { delete: name_regex, keep: name_regex_keep, keepN: keep_n, olderThan: older_than }
      const mayStill = async () => isDeepStrictEqual(await current(), policy)
      tags += await deleteSelected(ctx, { projectId, repositoryId }, selection, { actorId: null, mayStill })
    }
    if (tags > 0) ctx.log.info({ project_id: projectId, tags }, 'deleted container tags by policy')
  },
})

/** Enqueues the cleanups that are due. */
export async function startDueCleanups(ctx: Ctx): Promise<void> {
  await scheduleCleanups(ctx.db, cleanupDefaults.cadence)
  await inBatches((size) =>
    ctx.transaction(async (tx) => {
      const due = await takeDueCleanups(tx, cleanupDefaults.cadence, size)
      for (const projectId of due) await enqueue(tx, cleanUpProject, { projectId })
      return due.length
    }),
  )
}

export const startContainerCleanups = job({
  name: 'start_container_cleanups',
  input: Type.Object({}),
  key: () => 'start_container_cleanups',
  attempts: 3,
  every: { cron: '25 * * * *', input: {} },
  run: (_input, ctx) => startDueCleanups(ctx),
})
