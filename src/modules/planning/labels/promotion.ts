import { groupPolicy } from '../../../access/group-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { forbidden, invalid } from '../../../kernel/failure.ts'
import { type GroupSubject, loadGroup } from '../../groups/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { followPriorities } from '../order-copies/jobs.ts'
import { ensureGroupLabel, lockLabelsBelow, replaceLabelsBy } from './promotion-queries.ts'
import type { LabelName, LabelRow } from './queries.ts'
import { getLabel, lockLabel, recordLabel } from './service.ts'

async function groupToPromoteTo(ctx: Ctx, project: ProjectSubject): Promise<GroupSubject> {
  const group = await loadGroup(project.namespace_id, ctx)
  if (!group) throw invalid('Failed to promote project label to group label')
  if (!allows(groupPolicy.admin_label, ctx.actor, group.facts)) throw forbidden()
  return group
}

/**
 * Promotes a label of a project to its group; it replaces the labels of the same title in projects below the group. The caller must
 * be allowed to change labels of the group.
 */
export async function promoteLabel(ctx: Ctx, project: ProjectSubject, names: readonly LabelName[]): Promise<LabelRow> {
  const group = await groupToPromoteTo(ctx, project)
  const holder = { of: 'group', id: group.id } as const
  return ctx.transaction(async (tx) => {
    const own = { holder: { of: 'project', id: project.id }, caller: ctx.actor } as const
    const label = await lockLabel(tx, own, names)
    await groupToPromoteTo({ ...ctx, db: tx }, project)
    const id = await ensureGroupLabel(tx, group.id, label)
    await followPriorities(tx, await replaceLabelsBy(tx, await lockLabelsBelow(tx, group.id, label.name), id))
    await recordLabel(ctx, tx, 'label_promoted', holder, id)
    return getLabel(tx, { holder, caller: ctx.actor }, [{ id }])
  })
}
