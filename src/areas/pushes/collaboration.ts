import { allows } from '../../access/policy.ts'
import { projectPolicy } from '../../access/project-policy.ts'
import type { Ctx } from '../../api/ctx.ts'
import { branchName } from '../../git/ref-name.ts'
import { sharedBranches } from '../merge-requests/collaboration-queries.ts'
import { canMergeInto } from '../merge-requests/detail.ts'
import { loadProject, type ProjectSubject } from '../projects/subject.ts'
import { loadProtections } from '../protected-refs/protections.ts'
import type { RefChange } from './change.ts'

const nothing: ReadonlySet<string> = new Set()

/**
 * Branches of a project that the caller may push to, whatever his role there, because a merge request allows that to those who may
 * merge it. Asked of those alone who may not push anyway: one statement, and two for each project into which something of this
 * is to be merged.
 */
export async function collaborationBranches(ctx: Ctx, project: ProjectSubject): Promise<ReadonlySet<string>> {
  const { actor } = ctx
  if (!actor || actor.deployKey || actor.deployToken) return nothing
  if (!allows(projectPolicy.collaborate, actor, project.facts)) return nothing
  const shared = Map.groupBy(await sharedBranches(ctx.db, project.id), ({ project_id }) => project_id)
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

/** Whether all that a push does is to move such branches. */
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
