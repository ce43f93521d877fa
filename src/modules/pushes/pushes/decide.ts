import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { isCollaboration } from '../branch-access/collaboration.ts'
import { Protections } from '../protected-refs/protections.ts'
import { findProtectedRefs } from '../protected-refs/queries.ts'
import { protectedBranchRule } from './branch-rules.ts'
import { codeOwnersRule } from './code-owners-rule.ts'
import { largeFilesRule } from './large-files-rule.ts'
import { refViolation } from './ref-rules.ts'
import type { PushFacts, PushMode, PushRule } from './rule.ts'
import { sizeLimitRule } from './size-limit-rule.ts'
import { tagRule } from './tag-rules.ts'

export const refusedPush = 'You are not allowed to push code to this project.'

/** All rules, cheap ones first. */
const rules: readonly PushRule[] = [
  ({ changes, project }) => refViolation(changes, project.default_branch),
  sizeLimitRule,
  tagRule,
  protectedBranchRule,
  codeOwnersRule,
  largeFilesRule,
]

/** Either the reason for refusing the whole push, or the project with the rights it was checked against. */
export type Verdict = { readonly refused: string } | { readonly refused: undefined; readonly project: ProjectSubject }

/**
 * Decides about a change of refs, for every transport. Loads project and protections again, because a push may take
 * long and the user may have lost access in the meantime. Two statements in one round trip; git processes only where a
 * branch is protected, and one for a push of many objects if large files are enabled.
 */
export async function decide(
  ctx: Ctx,
  projectId: number,
  changes: readonly RefChange[],
  objects: PushFacts['objects'],
  mode: PushMode,
): Promise<Verdict> {
  const [project, protectedRefs] = await Promise.all([
    loadProject(String(projectId), ctx),
    findProtectedRefs(ctx.db, projectId, ctx.actor),
  ])
  const isLetIn =
    project &&
    (allows(projectPolicy.push_code, ctx.actor, project.facts) || (await isCollaboration(ctx, project, changes)))
  if (!isLetIn) return { refused: refusedPush }
  const protections = new Protections(protectedRefs, ctx.actor, project.facts.level)
  for (const rule of rules) {
    const violation = await rule({ ctx, project, protections, mode, changes, objects })
    if (violation !== undefined) return { refused: violation }
  }
  return { refused: undefined, project }
}
