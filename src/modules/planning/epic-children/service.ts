import type { Ctx } from '../../../api/ctx.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import { invalid } from '../../../kernel/failure.ts'
import { getEpic } from '../epics/detail.ts'
import type { EpicShown } from '../epics/entity.ts'
import { epicRecordRow } from '../epics/record-queries.ts'
import { createEpic, editEpic } from '../epics/service.ts'
import { type NextTo, placeNextTo } from '../epics/sibling-queries.ts'
import { type EpicSubject, epicNotFound, loadEpicById } from '../epics/subject.ts'
import { changeableEpic, holdTree } from '../epics/tree.ts'
import { findParentId } from '../epics/tree-queries.ts'
import { childrenOf } from './queries.ts'

/** A page of the children of an epic that the caller may read, in their order. */
export async function childrenPage(ctx: Ctx, { id, group }: EpicSubject, page: Page): Promise<Paged<EpicShown>> {
  const found = await fetchPage(ctx.db, epicRecordRow, childrenOf(ctx.actor, id), page)
  const within = { of: 'group', full_path: group.full_path } as const
  return { ...found, rows: found.rows.map((epic) => ({ epic, within })) }
}

/** Makes an epic, which the caller must be allowed to change, the last child of another one. */
export async function addChild(ctx: Ctx, parent: EpicSubject, childId: number): Promise<EpicShown> {
  const child = await changeableEpic(ctx, childId)
  await editEpic(ctx, child, { parent_id: parent.id })
  return getEpic(ctx, child.id)
}

/** Creates an epic of the same group as the last child of another one. */
export async function createChild(
  ctx: Ctx,
  parent: EpicSubject,
  given: { readonly title: string; readonly confidential?: boolean },
): Promise<EpicShown> {
  const { id } = await createEpic(ctx, parent.group, { ...given, parent_id: parent.id })
  return getEpic(ctx, id)
}

/** A child of the epic that the caller may read. */
async function getChild(ctx: Ctx, parent: EpicSubject, childId: number): Promise<EpicSubject> {
  const child = await loadEpicById(childId, ctx)
  if (child?.parent_id !== parent.id) throw epicNotFound()
  return child
}

/** Removes a child, which the caller must be allowed to change, from an epic. */
export async function removeChild(ctx: Ctx, parent: EpicSubject, childId: number): Promise<EpicShown> {
  const { id } = await getChild(ctx, parent, childId)
  await editEpic(ctx, await changeableEpic(ctx, id), { parent_id: null })
  return getEpic(ctx, id)
}

/** Moves a child of an epic next to another one. */
export async function placeChild(ctx: Ctx, parent: EpicSubject, childId: number, next: NextTo): Promise<void> {
  await getChild(ctx, parent, childId)
  const neighbour = next.before ?? next.after
  if (neighbour === childId) throw invalid('An epic cannot be moved next to itself')
  await ctx.transaction(async (tx) => {
    await holdTree(tx, parent.group_id)
    for (const id of [childId, neighbour!]) if ((await findParentId(tx, id)) !== parent.id) throw epicNotFound()
    await placeNextTo(tx, 'children', parent.id, childId, next)
  })
}
