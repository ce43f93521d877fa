import { groupPolicy } from '../../../access/group-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { forbidden, invalid } from '../../../kernel/failure.ts'
import { holdPlace, loadGroup, lockGroup } from '../../groups/index.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { followPriorities } from '../order-copies/jobs.ts'
import { ensureGroupLabel, lockLabelsBelow, replaceLabelsBy } from './promotion-queries.ts'
import type { LabelName, LabelRow } from './queries.ts'
import { getLabel, lockLabel, recordLabel } from './service.ts'

/** Locks the group around a project: two promotions to it would wait for each other's labels. Resolves to its id. */
async function holdGroup(tx: Tx, ctx: Ctx, projectId: number): Promise<number> {
  const project = await loadProject(String(projectId), { ...ctx, db: tx })
  const group = project && (await lockGroup(tx, project.namespace_id))
  if (!group) throw invalid('Failed to promote project label to group label')
  return group.id
}

async function requireGroup(ctx: Ctx, id: number): Promise<void> {
  const group = await loadGroup(id, ctx)
  if (!group || !allows(groupPolicy.admin_label, ctx.actor, group.facts)) throw forbidden()
}

/**
 * Promotes a label of a project to its group; it replaces the labels of the same title in projects below the group. The caller must
 * be allowed to change labels of the group.
 */
export async function promoteLabel(ctx: Ctx, project: ProjectSubject, names: readonly LabelName[]): Promise<LabelRow> {
  const own = { of: 'project', id: project.id } as const
  return ctx.transaction(async (tx) => {
    await holdPlace(tx, own)
    const holder = { of: 'group', id: await holdGroup(tx, ctx, project.id) } as const
    const label = await lockLabel(tx, { holder: own, caller: ctx.actor }, names)
    await requireGroup({ ...ctx, db: tx }, holder.id)
    const id = await ensureGroupLabel(tx, holder.id, label)
    await followPriorities(tx, await replaceLabelsBy(tx, await lockLabelsBelow(tx, holder.id, label.name), id))
    await recordLabel(ctx, tx, 'label_promoted', holder, id)
    return getLabel(tx, { holder, caller: ctx.actor }, [{ id }])
  })
}
