import type { Ctx } from '../../../api/ctx.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { enqueue } from '../../../jobs/job.ts'
import { conflict, rowNotFound } from '../../../kernel/failure.ts'
import { pathOf } from '../names/names.ts'
import { deleteContainerRepository } from './jobs.ts'
import { findRepository, markDeleting, type RepositoryRow, unhideRepository } from './queries.ts'

/** Schedules the deletion of a repository. Lists show it until the job runs. */
export const removeRepository = (ctx: Ctx, repository: RepositoryRow): Promise<void> =>
  ctx.transaction(async (tx) => {
    // Repeating the request succeeds without an event.
    if (!(await markDeleting(tx, repository.id))) return
    // The row may have been locked for long, by a deletion of many tags.
    await tx.requirePermission?.()
    await enqueue(tx, deleteContainerRepository, { repositoryId: repository.id })
    await emit(tx, {
      kind: 'container_repository_deleted',
      projectId: repository.project_id,
      actorId: ctx.actor!.id,
      payload: { repository_id: repository.id },
      facts: { path: pathOf(repository.full_path, repository.name) },
    })
  })

/** Brings a deleted repository back with its tags, within the retention time. */
export const restoreRepository = (ctx: Ctx, projectId: number, id: number): Promise<RepositoryRow> =>
  ctx
    .transaction(async (tx) => {
      if (!(await unhideRepository(tx, projectId, id, ctx.settings.container_registry_retention_days)))
        throw rowNotFound()
      await tx.requirePermission?.()
      const repository = (await findRepository(tx, projectId, id))!
      await emit(tx, {
        kind: 'container_repository_restored',
        projectId,
        actorId: ctx.actor!.id,
        payload: { repository_id: id },
        facts: { path: pathOf(repository.full_path, repository.name) },
      })
      return repository
    })
    .catch((error) => {
      if (violatedUnique(error) !== 'container_repositories_name') throw error
      throw conflict('A repository with this name was pushed meanwhile')
    })
