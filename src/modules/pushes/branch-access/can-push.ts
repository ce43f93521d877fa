import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { awaitsMaintainer } from '../protected-refs/default-branch.ts'
import type { Protections } from '../protected-refs/protections.ts'

/** Whether the repository has no branch yet and the setting reserves the first push for maintainers. */
export const isReserved = (ctx: Ctx, project: ProjectSubject): boolean =>
  project.default_branch === null && awaitsMaintainer(ctx.settings.default_branch_protection)

/**
 * Whether role and protection allow the caller to push to a branch: for records and early checks. `decide` makes the
 * binding decision on a push.
 */
export function canPushToBranch(ctx: Ctx, project: ProjectSubject, protections: Protections, name: string): boolean {
  if (!allows(projectPolicy.push_code, ctx.actor, project.facts)) return false
  const granted = protections.grants('push', 'branch', name)
  if (isReserved(ctx, project)) return granted || allows(projectPolicy.push_first_commit, ctx.actor, project.facts)
  return granted || !protections.isProtected('branch', name)
}
