import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import type { Protections } from '../protected-refs/protections.ts'
import { canPushToBranch } from './can-push.ts'

/** Whether role and protection allow the caller to merge into a branch: users who can push can merge. */
export const canMergeInto = (ctx: Ctx, project: ProjectSubject, protections: Protections, branch: string): boolean =>
  allows(mergeRequestPolicy.merge, ctx.actor, project.facts) &&
  (protections.grants('merge', 'branch', branch) || canPushToBranch(ctx, project, protections, branch))
