import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { deleteFiles, heldRetryMs } from '../../../db/held-files.ts'
import { emit } from '../../../events/log.ts'
import { deleteEventsOfProject } from '../../../events/retention.ts'
import { belongingOf } from '../../../git/repository/project-key.ts'
import { enqueue, type Job, job } from '../../../jobs/job.ts'
import { eachByItself } from '../../../kernel/each-by-itself.ts'
import { projectRepositoryDir } from '../repositories/location.ts'
import { setAside } from '../repositories/set-aside.ts'
import { largeTables } from './large-table-queries.ts'
import {
  deleteProjectRow,
  deleteSomeOf,
  dueForRemoval,
  findDeleting,
  markDueDeleting,
  projectsBeingRemoved,
} from './removal-queries.ts'

const heldRepository = Type.Object({ projectId: Type.Integer(), storage: Type.String(), key: Type.String() })

/** Deletes the repository that a project left, because a backup was running when its rows were deleted. */
export const removeHeldRepository: Job<typeof heldRepository> = job({
  name: 'remove_held_repository',
  input: heldRepository,
  key: ({ projectId }) => `remove_held_repository:${projectId}`,
  attempts: 10,
  async run(left, ctx) {
    const dir = projectRepositoryDir(ctx, { id: left.projectId, repository_storage: left.storage })
    // After a restore of the database alone, another project may have the id.
    if (belongingOf(dir, left.key) !== 'own') return
    const removed = await deleteFiles(ctx.transaction, () => ctx.git.removeRepository(dir))
    if (removed === 'held') await ctx.transaction((tx) => enqueue(tx, removeHeldRepository, left, heldRetryMs))
  },
})

/** Deletes the data of a deleted project: files first, then rows, so that a second run can finish after a crash. */
export const removeProject = job({
  name: 'remove_project',
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `remove_project:${projectId}`,
  attempts: 10,
  async run({ projectId }, ctx) {
    const project = await findDeleting(ctx.db, projectId)
    if (!project) return
    // A foreign repository at the place is moved away, not deleted.
    await setAside(ctx, project)
    const removed = await deleteFiles(ctx.transaction, () =>
      ctx.git.removeRepository(projectRepositoryDir(ctx, project)),
    )
    for (const table of largeTables)
      await inBatches((size) => deleteSomeOf(ctx.db, table, projectId, size), table.atOnce)
    await inBatches((size) => deleteEventsOfProject(ctx.db, projectId, size))
    await ctx.transaction(async (tx) => {
      // The path of the project becomes free, even if the backup takes hours.
      if (removed === 'held') {
        const { repository_storage: storage, repository_key: key } = project
        await enqueue(tx, removeHeldRepository, { projectId, storage, key }, heldRetryMs)
      }
      await deleteProjectRow(tx, projectId)
    })
  },
})

/** Deletes projects whose deletion period is over. */
export const removeMarkedProjects = job({
  name: 'remove_marked_projects',
  input: Type.Object({}),
  key: () => 'remove_marked_projects',
  attempts: 3,
  every: { cron: '20 * * * *', input: {} },
  async run(_input, ctx) {
    const days = ctx.settings.deletion_adjourned_period
    await eachByItself(await dueForRemoval(ctx.db, days), (projectId) =>
      ctx.transaction(async (tx) => {
        // A project that was restored is skipped.
        const due = await markDueDeleting(tx, projectId, days)
        if (!due) return
        await enqueue(tx, removeProject, { projectId })
        const { full_path, ...payload } = due
        await emit(tx, { kind: 'project_deleted', projectId, actorId: null, payload, facts: { full_path } })
      }),
    )
  },
})

/**
 * Restarts deletions whose job failed on every attempt: a half-deleted project cannot be restored, and its path must
 * become free.
 */
export const resumeProjectRemovals = job({
  name: 'resume_project_removals',
  input: Type.Object({}),
  key: () => 'resume_project_removals',
  attempts: 3,
  every: { cron: '30 3 * * *', input: {} },
  async run(_input, ctx) {
    for (const projectId of await projectsBeingRemoved(ctx.db))
      await ctx.transaction((tx) => enqueue(tx, removeProject, { projectId }))
  },
})
