import { groupPolicy } from '../../../access/group-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { forbidden, invalid, notFound } from '../../../kernel/failure.ts'
import { holdPlace, loadGroup, lockGroup } from '../../groups/index.ts'
import { loadProject } from '../../projects/index.ts'

/**
 * Locks the group around a project, to which something of the project is promoted, and keeps the project where it is: two promotions would
 * wait for each other's rows. The group comes first, as in an edit of the project. Throws `invalid` with the message if no group is around it,
 * `not_found` if the project was deleted meanwhile.
 */
export async function holdGroupAround(
  tx: Tx,
  ctx: Ctx,
  projectId: number,
  withoutGroup: string,
): Promise<{ readonly of: 'group'; readonly id: number }> {
  const load = async () => {
    const project = await loadProject(String(projectId), { ...ctx, db: tx })
    if (!project) throw notFound('Project')
    return project
  }
  let project = await load()
  for (;;) {
    const group = await lockGroup(tx, project.namespace_id)
    if (!group) throw invalid(withoutGroup)
    await holdPlace(tx, { of: 'project', id: projectId })
    project = await load()
    // Otherwise a transfer has moved it meanwhile.
    if (project.namespace_id === group.id) return { of: 'group', id: group.id }
  }
}

/** Throws if the caller may not change labels or milestones of the group. Ask once what is promoted is locked. */
export async function requireOfGroup(ctx: Ctx, id: number, ability: 'admin_label' | 'admin_milestone'): Promise<void> {
  const group = await loadGroup(id, ctx)
  if (!group || !allows(groupPolicy[ability], ctx.actor, group.facts)) throw forbidden()
}
