import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { deleteFiles } from '../../../db/held-files.ts'
import { countLooseRefs } from '../../../git/refs/ref-files.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { packRefs, repositorySize } from '../../../git/transfer/maintenance.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import {
  checkQueue,
  checkSchedule,
  dueHousekeeping,
  isDamaged,
  packRepository,
  projectRepositoryDir,
  saveWikiCheck,
  saveWikiSize,
  setAside,
} from '../../projects/index.ts'
import { openSideRepository } from './open.ts'
import {
  abandonedSideRepositories,
  deleteSideRepository,
  findSideHousekeeping,
  findSideRepositoryById,
  saveSideCheck,
  saveSideHousekeeping,
  saveSideSize,
  sideRepositoriesDueForCheck,
} from './queries.ts'

/** More loose refs make listing refs slow. */
const maxLooseRefs = 500

/** Runs after pushes (src/reactions.ts): packs the repository when enough pushes have accumulated, and measures it. */
export const refreshSideRepository = job({
  name: 'refresh_side_repository',
  input: Type.Object({ sideRepositoryId: Type.Integer() }),
  key: ({ sideRepositoryId }) => `refresh_side_repository:${sideRepositoryId}`,
  throttled: true,
  attempts: 6,
  async run({ sideRepositoryId }, ctx) {
    const row = await findSideRepositoryById(ctx.db, sideRepositoryId)
    if (!row) return
    const repo = openSideRepository(ctx, row)
    if (!(await repo.exists())) return
    if ((await countLooseRefs(repo)) > maxLooseRefs) await packRefs(repo)
    await packWhenDue(ctx, sideRepositoryId, repo)
    const bytes = await repositorySize(repo.gitDir)
    await saveSideSize(ctx.db, sideRepositoryId, bytes)
    if (row.project_id !== null) await saveWikiSize(ctx.db, row.project_id, bytes)
  },
})

async function packWhenDue(ctx: Ctx, id: number, repo: Repository): Promise<void> {
  const counts = await findSideHousekeeping(ctx.db, id)
  const [kind] = counts ? dueHousekeeping(counts, ctx.settings) : []
  if (!counts || kind === undefined) return
  const done = await packRepository(ctx, repo, kind)
  await saveSideHousekeeping(ctx.db, id, done, counts.pushes)
}

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
