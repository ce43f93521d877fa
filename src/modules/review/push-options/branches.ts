import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName } from '../../../git/format/ref-name.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { findForkRelation } from '../../repository/index.ts'

/** The branches that a push created or moved, except the default branch. */
export const proposable = (changes: readonly RefChange[], target: ProjectSubject): string[] =>
  changes
    .filter(({ to }) => to !== null)
    .flatMap(({ name }) => branchName(name) ?? [])
    .filter((name) => name !== target.default_branch)

/**
 * The project into which branches of `source` are merged by default: the one of which it is a fork, if the caller could create merge
 * requests there, else itself. It is never one where more users could read the code: that needs an explicit request.
 */
export async function defaultTarget(
  ctx: Ctx,
  source: ProjectSubject,
  forkedFrom: number | null,
): Promise<ProjectSubject> {
  const parent = forkedFrom === null ? undefined : await loadProject(String(forkedFrom), ctx)
  const isUsable =
    parent &&
    allows(projectPolicy.read_project, ctx.actor, parent.facts) &&
    allows(projectPolicy.create_merge_request_in, ctx.actor, parent.facts) &&
    isAsOpenAs(source, parent)
  return isUsable ? parent : source
}

/** The project that an option names, by ID or full path, if the caller can see it and it is in the fork network of `source`. */
export async function findTargetProject(
  ctx: Ctx,
  source: ProjectSubject,
  name: string,
): Promise<ProjectSubject | undefined> {
  const target = await loadProject(name, ctx)
  if (!target || !allows(projectPolicy.read_project, ctx.actor, target.facts)) return undefined
  const isRelated = target.id === source.id || (await findForkRelation(ctx.db, source.id, target.id)).related
  return isRelated ? target : undefined
}

/** Whether visibility and code access of a fork are not narrower than those of its parent. */
const isAsOpenAs = ({ facts: fork }: ProjectSubject, { facts: parent }: ProjectSubject): boolean =>
  fork.visibility >= parent.visibility && fork.features['repository']! >= parent.features['repository']!

/** Whether the caller may create merge requests from branches of `source` in `target`. */
export const mayCreate = (ctx: Ctx, source: ProjectSubject, target: ProjectSubject): boolean =>
  allows(projectPolicy.create_merge_request_from, ctx.actor, source.facts) &&
  allows(projectPolicy.create_merge_request_in, ctx.actor, target.facts)
