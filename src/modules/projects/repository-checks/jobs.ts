import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { needsSketches } from '../../../git/likeness/sketches.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { fsck } from '../../../git/transfer/maintenance.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import { findProject } from '../projects/queries.ts'
import { openRepository } from '../repositories/open.ts'
import { saveCheck } from '../repositories/queries.ts'
import { refreshSketches } from '../sketches/jobs.ts'
import { projectsDueForCheck, recordCheck } from './queries.ts'

/** How often repositories are checked. A check reads the whole repository, so only some are checked in an hour. */
export const checkSchedule = { periodDays: 30, maxPerHour: 50, cron: '40 * * * *' }
/** The queue of all checks: one at a time in the whole installation. */
export const checkQueue = () => 'repository_checks'
const loggedProblems = 10

/** Whether git finds something broken in a repository, which is logged with what names it. */
export async function isDamaged(
  ctx: Ctx,
  repo: Repository,
  named: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const problems = (await repo.exists()) ? await fsck(repo) : []
  if (problems.length > 0)
    ctx.log.error({ ...named, problems: problems.slice(0, loggedProblems) }, 'the repository is damaged')
  return problems.length > 0
}

/** Checks all objects of a repository; saves and logs the result. A repository that was restored, or an upgrade, may lack sketches. */
export const checkRepository = job({
  name: 'check_repository',
  slow: true,
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `check_repository:${projectId}`,
  queue: checkQueue,
  attempts: 3,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    const failed = await isDamaged(ctx, repo, { project: project.full_path })
    const wantsSketches = !failed && (await repo.exists()) && (await needsSketches(repo))
    await ctx.transaction(async (tx) => {
      await saveCheck(tx, projectId, failed)
      await recordCheck(tx, projectId)
      if (wantsSketches) await enqueue(tx, refreshSketches, { projectId })
    })
  },
})

/** Queues checks of repositories that were last checked a month ago, a few at a time. */
export const checkDueRepositories = job({
  name: 'check_due_repositories',
  input: Type.Object({}),
  key: () => 'check_due_repositories',
  attempts: 3,
  every: { cron: checkSchedule.cron, input: {} },
  async run(_input, ctx) {
    if (!ctx.settings.repository_checks_enabled) return
    const due = await projectsDueForCheck(ctx.db, checkSchedule.periodDays, checkSchedule.maxPerHour)
    await ctx.transaction(async (tx) => {
      for (const projectId of due) await enqueue(tx, checkRepository, { projectId })
    })
  },
})
