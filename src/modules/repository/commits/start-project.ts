import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { forbidden, notFound } from '../../../kernel/failure.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { findForkRelation } from './queries.ts'

/**
 * Another project that a commit may start from: in the same fork network and with code that the caller may read.
 * `undefined` if it is the project itself.
 */
export async function findStartProject(
  ctx: Ctx,
  project: ProjectSubject,
  idOrPath: number | string | undefined,
): Promise<ProjectSubject | undefined> {
  if (idOrPath === undefined) return undefined
  const found = await loadProject(String(idOrPath), ctx)
  const isReadable = (ability: 'read_project' | 'read_code') =>
    found !== undefined && allows(projectPolicy[ability], ctx.actor, found.facts)
  if (!found || !isReadable('read_project') || !isReadable('read_code')) throw notFound('Project')
  if (found.id === project.id) return undefined
  const { related, full_name } = await findForkRelation(ctx.db, project.id, found.id)
  if (!related) throw forbidden(`Project is not included in the fork network for ${full_name}`)
  return found
}
