import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName } from '../../../git/format/ref-name.ts'
import { asAccount } from '../../accounts/index.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { loadProtections } from '../protected-refs/protections.ts'
import { canMergeInto } from './can-merge.ts'
import { canPushToBranch } from './can-push.ts'
import { type SharedBranch, sharedBranches } from './collaboration-queries.ts'

const nothing: ReadonlySet<string> = new Set()

/**
 * Branches of a project to which the caller may push, whatever their role there, because a merge request allows
 * collaboration to users who may merge it. The user who allowed it must still be able to push to the project. Called
 * only for users who cannot push otherwise: one statement, two for each target project and two for each user who
 * allowed it.
 */
export async function collaborationBranches(ctx: Ctx, project: ProjectSubject): Promise<ReadonlySet<string>> {
  const { actor } = ctx
  if (!actor || actor.deployKey || actor.deployToken) return nothing
  if (!allows(projectPolicy.collaborate, actor, project.facts)) return nothing
  const shared = Map.groupBy(await allowedBranches(ctx, project), ({ project_id }) => project_id)
  const found = new Set<string>()
  for (const [targetId, branches] of shared) {
    const target = await loadProject(String(targetId), ctx)
    if (!target) continue
    const protections = await loadProtections(ctx, target)
    for (const { source_branch, target_branch } of branches)
      if (canMergeInto(ctx, target, protections, target_branch)) found.add(source_branch)
  }
  return found
}

/** Shared branches that were shared by users who may still push to the project. */
async function allowedBranches(ctx: Ctx, { id }: ProjectSubject): Promise<SharedBranch[]> {
  const shared = await sharedBranches(ctx.db, id)
  const pushers = new Set<number>()
  for (const userId of new Set(shared.map(({ collaboration_user_id }) => collaboration_user_id)))
    if (await mayPush(ctx, id, userId)) pushers.add(userId)
  return shared.filter(({ collaboration_user_id }) => pushers.has(collaboration_user_id))
}

async function mayPush(ctx: Ctx, projectId: number, userId: number): Promise<boolean> {
  const user = await asAccount(ctx, userId)
  const project = user && (await loadProject(String(projectId), user))
  return project !== undefined && allows(projectPolicy.push_code, user!.actor, project.facts)
}

/** Whether role and protection, or a merge request that allows collaboration, let the caller push to an existing branch. */
export async function mayPushToBranch(ctx: Ctx, project: ProjectSubject, branch: string): Promise<boolean> {
  const protections = await loadProtections(ctx, project)
  if (canPushToBranch(ctx, project, protections, branch)) return true
  return !protections.isProtected('branch', branch) && (await collaborationBranches(ctx, project)).has(branch)
}

/** Whether a push changes such branches only. */
export async function isCollaboration(
  ctx: Ctx,
  project: ProjectSubject,
  changes: readonly RefChange[],
): Promise<boolean> {
  const branches = await collaborationBranches(ctx, project)
  return (
    branches.size > 0 &&
    changes.every(({ name, from, to }) => from !== null && to !== null && branches.has(branchName(name) ?? ''))
  )
}
