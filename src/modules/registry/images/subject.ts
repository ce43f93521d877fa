import { Type } from 'typebox'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Failure, rowNotFound } from '../../../kernel/failure.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { findRepository, projectOfRepository, type RepositoryRow, type Shown } from './queries.ts'

/** The project of a repository, which the path names by the id of the repository. */
export const projectAround = subject({
  what: 'Container Repository',
  params: Type.Object({ id: Type.String({ description: 'ID of the repository' }) }),
  policy: projectPolicy,
  visible: 'read_container_image',
  async load({ id }, ctx): Promise<(ProjectSubject & { readonly repositoryId: number }) | undefined> {
    const repositoryId = /^\d{1,15}$/.test(id) ? Number(id) : undefined
    const projectId = repositoryId === undefined ? undefined : await projectOfRepository(ctx.db, repositoryId)
    const found = projectId === undefined ? undefined : await loadProject(String(projectId), ctx)
    return found && { ...found, repositoryId: repositoryId! }
  },
})

/** Throws `not_found` if the registry is off. */
export function requireRegistry({ registry }: Ctx): void {
  if (registry.host === undefined) throw new Failure('not_found', 'Not Found')
}

/** A repository of a project. Throws `not_found`. */
export async function getRepository(
  ctx: Ctx,
  projectId: number,
  id: number,
  shown: Shown = {},
): Promise<RepositoryRow> {
  requireRegistry(ctx)
  const repository = await findRepository(ctx.db, projectId, id, shown)
  if (!repository) throw rowNotFound()
  return repository
}
