import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { invalid } from '../../../kernel/failure.ts'
import { lockToChange } from '../projects/lock-to-change.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import { setArchived, unmarkForDeletion } from './queries.ts'

/** Archives a project, which makes it read-only on every transport, or unarchives it. Idempotent. */
export async function archive(ctx: Ctx, project: ProjectSubject, archived: boolean): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockToChange(tx, project.id)
    if (await setArchived(tx, project.id, archived))
      await emit(tx, {
        kind: archived ? 'project_archived' : 'project_unarchived',
        projectId: project.id,
        actorId: ctx.actor!.id,
        payload: {},
        facts: { full_path: project.full_path },
      })
  })
}

/** Unmarks a project that is marked for deletion. */
export async function restoreProject(ctx: Ctx, project: ProjectSubject): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockToChange(tx, project.id)
    if (!(await unmarkForDeletion(tx, project.id))) throw invalid('Project is not marked for deletion')
    await emit(tx, {
      kind: 'project_restored',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: {},
      facts: { full_path: project.full_path },
    })
  })
}
