import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { QuickAction } from '../../discussion/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { lockUsableMilestone } from '../milestones/queries.ts'
import { copiedMilestone, issueNamed, milestoneNamed } from './shared.ts'

/** The project of issues or merge requests with quick actions. */
export type ActingProject = Pick<ProjectSubject, 'id' | 'full_path'>

/**
 * Locks the milestones that quick actions set. Before the issues and merge requests that get them: a change of the due date, and the
 * deletion of a milestone, lock it before these.
 */
export async function lockNamedMilestones(
  tx: Tx,
  ctx: Ctx,
  project: ActingProject,
  actions: readonly QuickAction[],
): Promise<void> {
  const place = { of: 'project', id: project.id, full_path: project.full_path } as const
  const ids = new Set<number>()
  const copied = async (argument: string) => {
    const source = await issueNamed(ctx, { place }, argument)
    return source && copiedMilestone(ctx, project.id, source)
  }
  for (const { name, argument } of actions) {
    const id =
      name === 'milestone'
        ? await milestoneNamed(ctx, project.id, argument)
        : name === 'copy_metadata'
          ? await copied(argument)
          : undefined
    if (id !== undefined) ids.add(id)
  }
  for (const id of [...ids].sort((a, b) => a - b)) await lockUsableMilestone(tx, project.id, id)
}
