import { allows } from '../../../access/policy.ts'
import { type ProjectAbility, projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { asAccount } from '../../accounts/index.ts'
import { loadProject, type ProjectSubject } from './subject.ts'

/**
 * What a job needs that acts on a project for the user who requested it: a context with the rights of the user, and the project. `undefined` if the
 * account may not act any more, or the user has lost the ability; also for a user who is gone (`null`). Two statements.
 */
export async function projectOnBehalf(
  ctx: Ctx,
  userId: number | null,
  projectId: number,
  ability: ProjectAbility,
): Promise<{ readonly user: Ctx; readonly project: ProjectSubject } | undefined> {
  const user = userId === null ? undefined : await asAccount(ctx, userId)
  const project = user && (await loadProject(String(projectId), user))
  return user && project && allows(projectPolicy[ability], user.actor, project.facts) ? { user, project } : undefined
}
