import type { Ctx } from '../../../api/ctx.ts'
import { inOneTransaction } from '../../../api/within-transaction.ts'
import type { Tx } from '../../../db/db.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import type { QuickAction } from '../../discussion/index.ts'
import type { GroupSubject } from '../../groups/index.ts'
import { epicActionNames, epicActions } from '../epic-actions/commands.ts'
import { createEpic, type EpicEdit, type EpicInput, editEpic } from '../epics/service.ts'
import { type EpicSubject, loadEpicById } from '../epics/subject.ts'
import { holdTree } from '../epics/tree.ts'
import { withoutQuickActions } from '../quick-actions/description.ts'

/** Applies quick actions of a description to an epic, as it is now. */
async function apply(ctx: Ctx, id: number, actions: readonly QuickAction[]): Promise<void> {
  const subject = await loadEpicById(id, ctx)
  if (!subject) throw rowNotFound()
  await epicActions(subject).apply(ctx, actions)
}

/** Actions may give the epic another parent, for which the tree is locked before any epic. */
const lockTree = (groupId: number) => (tx: Tx) => holdTree(tx, groupId)

/**
 * Creates an epic and applies the quick actions of its description, which does not keep them, in one transaction: a crash in between
 * would lose them. Returns its id.
 */
export async function createDescribed(ctx: Ctx, group: GroupSubject, given: EpicInput): Promise<number> {
  const { input, actions } = withoutQuickActions(given, epicActionNames)
  if (actions.length === 0) return (await createEpic(ctx, group, input)).id
  return inOneTransaction(ctx, lockTree(group.id), async (within) => {
    const { id } = await createEpic(within, group, input)
    await apply(within, id, actions)
    return id
  })
}

/** Updates an epic and applies the quick actions of a new description, which does not keep them, in one transaction. */
export async function editDescribed(ctx: Ctx, subject: EpicSubject, given: EpicEdit): Promise<void> {
  const { input: edit, actions } = withoutQuickActions(given, epicActionNames)
  if (actions.length === 0) return editEpic(ctx, subject, edit)
  await inOneTransaction(ctx, lockTree(subject.group_id), async (within) => {
    await editEpic(within, subject, edit)
    await apply(within, subject.id, actions)
  })
}
