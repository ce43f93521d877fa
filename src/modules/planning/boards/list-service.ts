import type { Ctx } from '../../../api/ctx.ts'
import { invalid, invalidFields, notFound } from '../../../kernel/failure.ts'
import { taken } from '../../../kernel/violations.ts'
import { holdPlace, type ProjectOrGroupHolder } from '../../groups/index.ts'
import {
  deleteList,
  findList,
  insertList,
  type ListRow,
  listIds,
  type Maxima,
  saveMaxima,
  saveOrder,
} from './list-queries.ts'
import { mayRefer } from './scope.ts'
import { holdBoard } from './service.ts'

/** Maximum lists of one board. */
const maxLists = 100

export async function getList(ctx: Ctx, boardId: number, id: number): Promise<ListRow> {
  const list = await findList(ctx.db, boardId, id)
  if (!list) throw notFound('List')
  return list
}

const missing = {
  label_id: 'Label not found!',
  assignee_id: 'User not found!',
  milestone_id: 'Milestone not found!',
} as const

/** Exactly one of the first three is given. */
export type ListInput = { readonly [K in keyof typeof missing]?: number | undefined } & Maxima

/** Adds a list after the others. */
export async function createList(
  ctx: Ctx,
  holder: ProjectOrGroupHolder,
  boardId: number,
  { label_id, assignee_id, milestone_id, ...maxima }: ListInput,
): Promise<ListRow> {
  const criterion = {
    label_id: label_id ?? null,
    assignee_id: assignee_id ?? null,
    milestone_id: milestone_id ?? null,
  }
  const [what, referred] = Object.entries(criterion).find(([, id]) => id !== null) as [keyof typeof missing, number]
  const id = await ctx.transaction(async (tx) => {
    if (what !== 'assignee_id') await holdPlace(tx, holder)
    await holdBoard(tx, holder, boardId)
    if (!(await mayRefer(tx, ctx, holder, what, referred))) throw invalid(missing[what])
    if ((await listIds(tx, boardId)).length >= maxLists) throw invalid(`A board has at most ${maxLists} lists`)
    const made = await insertList(tx, boardId, criterion, maxima)
    if (made === undefined) throw invalidFields({ [what]: [taken] })
    return made
  })
  return getList(ctx, boardId, id)
}

/**
 * Moves a list to a position, from 0, and changes its maxima. Other lists close the gap, so that positions have no gaps. Moves on one
 * board take turns.
 */
export async function editList(
  ctx: Ctx,
  holder: ProjectOrGroupHolder,
  boardId: number,
  id: number,
  { position, ...maxima }: Maxima & { readonly position?: number | undefined },
): Promise<ListRow> {
  await ctx.transaction(async (tx) => {
    await holdBoard(tx, holder, boardId)
    const ids = await listIds(tx, boardId)
    if (!ids.includes(id)) throw notFound('List')
    if (position !== undefined) {
      if (position >= ids.length) throw invalid('List could not be moved!')
      await saveOrder(tx, ids.filter((other) => other !== id).toSpliced(position, 0, id))
    }
    await saveMaxima(tx, id, maxima)
  })
  return getList(ctx, boardId, id)
}

export async function removeList(ctx: Ctx, holder: ProjectOrGroupHolder, boardId: number, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    await holdBoard(tx, holder, boardId)
    if (!(await deleteList(tx, boardId, id))) throw notFound('List')
  })
}
