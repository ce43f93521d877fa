import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { type Failure, forbidden, invalid } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { canPushToBranch, collaborationBranches, loadProtections } from '../../pushes/index.ts'

/** How a refused branch reads to those who commit through the API. */
const refusal = 'You are not allowed to push into this branch'

/** Who is refused a branch gets a 403 from the endpoints of commits, and a 400 from those of files. */
export type RefusalKind = 'forbidden' | 'invalid'

const refused = (kind: RefusalKind): Failure => (kind === 'forbidden' ? forbidden(refusal) : invalid(refusal))

/**
 * Fails early, before anything else is looked at, unless role and protection let the caller push to the branch, or a merge
 * request does. One statement for who may. The verdict on what is pushed comes with the move of the branch, which may have been protected meanwhile.
 */
export async function requireBranchAccess(
  ctx: Ctx,
  project: ProjectSubject,
  branch: string,
  kind: RefusalKind,
): Promise<void> {
  const protections = await loadProtections(ctx, project)
  if (canPushToBranch(ctx, project, protections, branch)) return
  const isShared = !protections.isProtected('branch', branch) && (await collaborationBranches(ctx, project)).has(branch)
  if (isShared) return
  // Where files are written, who pushes nowhere is refused as everywhere.
  throw kind === 'invalid' && !allows(projectPolicy.push_code, ctx.actor, project.facts) ? forbidden() : refused(kind)
}

/** Refusals of access by the verdict on pushes; others (of push rules) are told as they are. */
const ofAccess = /^(You are not allowed|You can only|A default branch)\b/

/** What the verdict on a push says, in the words of the API. */
export const refusalOf =
  (kind: RefusalKind) =>
  (reason: string): Failure =>
    ofAccess.test(reason) ? refused(kind) : invalid(reason)
