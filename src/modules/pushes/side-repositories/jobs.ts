import { Type } from 'typebox'
import { deleteFiles } from '../../../db/held-files.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import {
  checkQueue,
  checkSchedule,
  isDamaged,
  projectRepositoryDir,
  saveWikiCheck,
  setAside,
} from '../../projects/index.ts'
import { openSideRepository } from './open.ts'
import {
  abandonedSideRepositories,
  deleteSideRepository,
  findSideRepositoryById,
  saveSideCheck,
  sideRepositoriesDueForCheck,
} from './queries.ts'

const atOnce = 100

/**
 * Deletes repositories whose holder was deleted, or that an import left behind: files first, then the row, so that a second run can finish
 * after a crash. Who deletes holders may enqueue it; otherwise it runs within minutes.
 */
export const removeSideRepositories = job({
  name: 'remove_side_repositories',
  input: Type.Object({}),
  key: () => 'remove_side_repositories',
  attempts: 3,
  every: { cron: '*/10 * * * *', input: {} },
  async run(_input, ctx) {
    for (;;) {
      const rows = await abandonedSideRepositories(ctx.db, atOnce)
      for (const row of rows) {
        // A repository of another project at the place is moved away, not deleted.
        await setAside(ctx, row)
        const removed = await deleteFiles(ctx.transaction, () =>
          ctx.git.removeRepository(projectRepositoryDir(ctx, row)),
        )
        // The next run tries again.
        if (removed === 'held') return
        await deleteSideRepository(ctx.db, row.id)
      }
      if (rows.length < atOnce) return
    }
  },
})

/** Checks all objects of a repository; logs the result, and saves that of a project's wiki. */
export const checkSideRepository = job({
  name: 'check_side_repository',
  slow: true,
  input: Type.Object({ sideRepositoryId: Type.Integer() }),
  key: ({ sideRepositoryId }) => `check_side_repository:${sideRepositoryId}`,
  queue: checkQueue,
  attempts: 3,
  async run({ sideRepositoryId }, ctx) {
    const row = await findSideRepositoryById(ctx.db, sideRepositoryId)
    if (!row) return
    const { kind, project_id, group_id, snippet_id } = row
    const failed = await isDamaged(ctx, openSideRepository(ctx, row), { kind, project_id, group_id, snippet_id })
    await ctx.transaction(async (tx) => {
      if (project_id !== null) await saveWikiCheck(tx, project_id, failed)
      await saveSideCheck(tx, sideRepositoryId)
    })
  },
})

/** Queues checks of repositories that were last checked a month ago, a few at a time. */
export const checkDueSideRepositories = job({
  name: 'check_due_side_repositories',
  input: Type.Object({}),
  key: () => 'check_due_side_repositories',
  attempts: 3,
  every: { cron: checkSchedule.cron, input: {} },
  async run(_input, ctx) {
    if (!ctx.settings.repository_checks_enabled) return
    const due = await sideRepositoriesDueForCheck(ctx.db, checkSchedule.periodDays, checkSchedule.maxPerHour)
    await ctx.transaction(async (tx) => {
      for (const sideRepositoryId of due) await enqueue(tx, checkSideRepository, { sideRepositoryId })
    })
  },
})
