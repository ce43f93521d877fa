import { Type } from 'typebox'
import { fsck } from '../../../git/transfer/maintenance.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import { findProject } from '../projects/queries.ts'
import { openRepository } from '../repositories/open.ts'
import { saveCheck } from '../repositories/queries.ts'
import { projectsDueForCheck, recordCheck } from './queries.ts'

const periodDays = 30
/** Maximum checks per hour, because a check reads the whole repository. */
const maxChecks = 50
const loggedProblems = 10

/** Checks all objects of a repository; saves and logs the result. */
export const checkRepository = job({
  name: 'check_repository',
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `check_repository:${projectId}`,
  // One at a time in the whole installation.
  queue: () => 'repository_checks',
  attempts: 3,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    const problems = (await repo.exists()) ? await fsck(repo) : []
    if (problems.length > 0)
      ctx.log.error(
        { project: project.full_path, problems: problems.slice(0, loggedProblems) },
        'the repository is damaged',
      )
    await ctx.transaction(async (tx) => {
      await saveCheck(tx, projectId, problems.length > 0)
      await recordCheck(tx, projectId)
    })
  },
})

/** Queues checks of repositories that were last checked a month ago, a few at a time. */
export const checkDueRepositories = job({
  name: 'check_due_repositories',
  input: Type.Object({}),
  key: () => 'check_due_repositories',
  attempts: 3,
  every: { cron: '40 * * * *', input: {} },
  async run(_input, ctx) {
    if (!ctx.settings.repository_checks_enabled) return
    const due = await projectsDueForCheck(ctx.db, periodDays, maxChecks)
    await ctx.transaction(async (tx) => {
      for (const projectId of due) await enqueue(tx, checkRepository, { projectId })
    })
  },
})
