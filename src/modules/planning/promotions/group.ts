import { groupPolicy } from '../../../access/group-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { forbidden, invalid } from '../../../kernel/failure.ts'
import { holdPlace, loadGroup, lockGroup } from '../../groups/index.ts'
import { loadProject } from '../../projects/index.ts'

/**
 * Keeps a project where it is and locks the group around it, to which something of the project is promoted: two promotions would wait for each other's
 * rows. Throws `invalid` with the message if no group is around it.
 */
export async function holdGroupAround(
  tx: Tx,
  ctx: Ctx,
  projectId: number,
  withoutGroup: string,
): Promise<{ readonly of: 'group'; readonly id: number }> {
  await holdPlace(tx, { of: 'project', id: projectId })
  const project = await loadProject(String(projectId), { ...ctx, db: tx })
  const group = project && (await lockGroup(tx, project.namespace_id))
  if (!group) throw invalid(withoutGroup)
  return { of: 'group', id: group.id }
}

/** Throws if the caller may not change labels or milestones of the group. Ask once what is promoted is locked. */
export async function requireOfGroup(ctx: Ctx, id: number, ability: 'admin_label' | 'admin_milestone'): Promise<void> {
  const group = await loadGroup(id, ctx)
  if (!group || !allows(groupPolicy[ability], ctx.actor, group.facts)) throw forbidden()
}
