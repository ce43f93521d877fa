import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { isCollaboration } from '../branch-access/collaboration.ts'
import { Protections } from '../protected-refs/protections.ts'
import { findProtectedRefs } from '../protected-refs/queries.ts'
import type { Offence } from '../push-rules/offence.ts'
import { type EnforcedRule, findEnforcedRule } from '../push-rules/queries.ts'
import { protectedBranchRule } from './branch-rules.ts'
import { codeOwnersRule } from './code-owners-rule.ts'
import { configuredRule } from './configured-rule.ts'
import { LargeFilesCheck } from './large-files-check.ts'
import { largeFilesRule } from './large-files-rule.ts'
import { lockedFilesRule } from './locked-files-rule.ts'
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
  configuredRule,
  largeFilesRule,
  lockedFilesRule,
]

/**
 * Either the reason for refusing the whole push, with what violates the push rule of the project, or the project with the
 * rights it was checked against.
 */
export type Verdict =
  | { readonly refused: string; readonly offence?: Offence }
  | { readonly refused: undefined; readonly project: ProjectSubject }

/**
 * Decides about a change of refs, for every transport. Loads project and protections again, because a push may take
 * long and the user may have lost access in the meantime. Three statements in one round trip, and one for locks of files; git processes only
 * where a branch is protected, the project has a push rule or locked files, and one for a push of many objects if large files are enabled.
 */
export async function decide(
  ctx: Ctx,
  projectId: number,
  changes: readonly RefChange[],
  objects: PushFacts['objects'],
  mode: PushMode,
): Promise<Verdict> {
  const [project, protectedRefs, configured] = await Promise.all([
    loadProject(String(projectId), ctx),
    findProtectedRefs(ctx.db, projectId, ctx.actor),
    ruleFor(ctx, projectId, mode),
  ])
  const isLetIn =
    project &&
    (allows(projectPolicy.push_code, ctx.actor, project.facts) || (await isCollaboration(ctx, project, changes)))
  if (!isLetIn) return { refused: refusedPush }
  const protections = new Protections(protectedRefs, ctx.actor, project.facts.level)
  const largeFiles = new LargeFilesCheck({ ctx, project, transport: mode.transport, changes })
  const facts = { ctx, project, protections, configured, mode, changes, largeFiles, objects }
  for (const rule of rules) {
    const violation = await rule(facts)
    if (typeof violation === 'string') return { refused: violation }
    if (violation) return { refused: violation.text, offence: violation }
  }
  return { refused: undefined, project }
}

/** A pull mirror brings what the other server has accepted: its commits cannot be changed here. */
async function ruleFor({ db, plan }: Ctx, projectId: number, mode: PushMode): Promise<EnforcedRule | undefined> {
  if (mode.transport === 'system' || !planOffers(plan, 'starter')) return undefined
  const rule = await findEnforcedRule(db, projectId)
  return rule && !planOffers(plan, 'premium')
    ? { ...rule, commit_committer_check: false, reject_unsigned_commits: false }
    : rule
}
