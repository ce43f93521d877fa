import type { Ctx } from '../../../api/ctx.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { followPriorities } from '../order-copies/jobs.ts'
import { holdGroupAround, requireOfGroup } from '../promotions/group.ts'
import { ensureGroupLabel, lockLabelsBelow, replaceLabelsBy } from './promotion-queries.ts'
import type { LabelName, LabelRow } from './queries.ts'
import { getLabel, lockLabel, recordLabel } from './service.ts'

/**
 * Promotes a label of a project to its group; it replaces the labels of the same title in projects below the group. The caller must
 * be allowed to change labels of the group.
 */
export async function promoteLabel(ctx: Ctx, project: ProjectSubject, names: readonly LabelName[]): Promise<LabelRow> {
  const own = { of: 'project', id: project.id } as const
  return ctx.transaction(async (tx) => {
    const holder = await holdGroupAround(tx, ctx, project.id, 'Failed to promote project label to group label')
    const label = await lockLabel(tx, { holder: own, caller: ctx.actor }, names)
    await requireOfGroup({ ...ctx, db: tx }, holder.id, 'admin_label')
    const id = await ensureGroupLabel(tx, holder.id, label)
    await followPriorities(tx, await replaceLabelsBy(tx, await lockLabelsBelow(tx, holder.id, label.name), id))
    await recordLabel(ctx, tx, 'label_promoted', holder, id)
    return getLabel(tx, { holder, caller: ctx.actor }, [{ id }])
  })
}
