import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { type Failure, forbidden, invalid } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { mayPushToBranch } from '../../pushes/index.ts'

/** Message for a refused branch in the API. */
const refusal = 'You are not allowed to push into this branch'

/** Kind of failure for a refused branch: endpoints of commits answer 403, those of files 400. */
export type RefusalKind = 'forbidden' | 'invalid'

const refused = (kind: RefusalKind): Failure => (kind === 'forbidden' ? forbidden(refusal) : invalid(refusal))

/**
 * Throws early unless role and protection, or a merge request that allows collaboration, let the caller push to the
 * branch. One statement if they may. Moving the branch makes the binding decision, because the branch may have been
 * protected in the meantime.
 */
export async function requireBranchAccess(
  ctx: Ctx,
  project: ProjectSubject,
  branch: string,
  kind: RefusalKind,
): Promise<void> {
  if (await mayPushToBranch(ctx, project, branch)) return
  // Callers who may push nowhere get the usual 403 from endpoints of files too.
  throw kind === 'invalid' && !allows(projectPolicy.push_code, ctx.actor, project.facts) ? forbidden() : refused(kind)
}

/** Access refusals of push rules; refusals of other rules are shown unchanged. */
const ofAccess = /^(You are not allowed|You can only|A default branch)\b/

/** Translates the refusal of a push rule for the API. */
export const refusalOf =
  (kind: RefusalKind) =>
  (reason: string): Failure =>
    ofAccess.test(reason) ? refused(kind) : invalid(reason)
