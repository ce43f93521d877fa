import type { Ctx } from '../../../api/ctx.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { type QuickActions, saveWithActions } from '../../discussion/index.ts'
import type { GroupSubject } from '../../groups/index.ts'
import { epicActionLocks, epicActionNames, epicActions } from '../epic-actions/commands.ts'
import { createEpic, type EpicEdit, type EpicInput, editEpic } from '../epics/service.ts'
import { type EpicSubject, loadEpicById } from '../epics/subject.ts'
import { withoutQuickActions } from '../quick-actions/description.ts'

/** The quick actions of an epic, as it is now. */
async function actionsOf(ctx: Ctx, id: number): Promise<QuickActions> {
  const subject = await loadEpicById(id, ctx)
  if (!subject) throw rowNotFound()
  return epicActions(subject)
}

/**
 * Creates an epic and applies the quick actions of its description, which does not keep them, in one transaction: a crash in between
 * would lose them. Returns its id.
 */
export async function createDescribed(ctx: Ctx, group: GroupSubject, given: EpicInput): Promise<number> {
  const { input, actions } = withoutQuickActions(given, epicActionNames)
  if (actions.length === 0) return (await createEpic(ctx, group, input)).id
  const { saved } = await saveWithActions(
    ctx,
    actions,
    epicActionLocks(group.id),
    (within) => createEpic(within, group, input),
    (now, { id }) => actionsOf(now, id),
  )
  return saved.id
}

/** Updates an epic and applies the quick actions of a new description, which does not keep them, in one transaction. */
export async function editDescribed(ctx: Ctx, subject: EpicSubject, given: EpicEdit): Promise<void> {
  const { input: edit, actions } = withoutQuickActions(given, epicActionNames)
  if (actions.length === 0) return editEpic(ctx, subject, edit)
  await saveWithActions(
    ctx,
    actions,
    epicActionLocks(subject.group_id),
    (within) => editEpic(within, subject, edit),
    (now) => actionsOf(now, subject.id),
  )
}
