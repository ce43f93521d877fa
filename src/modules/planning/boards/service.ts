import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { forbidden, invalidFields, notFound } from '../../../kernel/failure.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { requiredTextViolations, violationsOf } from '../../../kernel/violations.ts'
import { holdPlace, lockGroup, type ProjectOrGroupHolder } from '../../groups/index.ts'
import {
  type BoardRow,
  type BoardValues,
  deleteBoard,
  findBoard,
  hasBoard,
  insertBoard,
  labelsTitled,
  lockBoard,
  replaceBoardLabels,
  updateBoard,
} from './queries.ts'
import { mayRefer } from './scope.ts'

const longestName = 255

export async function getBoard(ctx: Ctx, holder: ProjectOrGroupHolder, id: number): Promise<BoardRow> {
  const board = await findBoard(ctx.db, holder, id)
  if (!board) throw notFound('Board')
  return board
}

function cleanName(name: string): string {
  const clean = name.trim()
  const violations = violationsOf({
    name: requiredTextViolations(clean, longestName),
  })
  if (violations) throw invalidFields(violations)
  return clean
}

/** A group has one board on plans below premium. */
export async function createBoard(ctx: Ctx, holder: ProjectOrGroupHolder, name: string): Promise<BoardRow> {
  const clean = cleanName(name)
  const id = await ctx.transaction(async (tx) => {
    if (holder.of === 'group' && !planOffers(ctx.plan, 'premium')) {
      if (!(await lockGroup(tx, holder.id))) throw notFound('Group')
      if (await hasBoard(tx, holder)) throw forbidden('The plan offers one board for each group')
    }
    const made = await insertBoard(tx, holder, clean)
    // The insert waits for changes of the holder.
    await tx.requirePermission?.()
    return made
  })
  return getBoard(ctx, holder, id)
}

/** Null and 0 remove a value. */
export type BoardChanges = {
  readonly [K in keyof BoardValues]?: BoardValues[K] | undefined
} & {
  /** Titles of labels; unknown ones are ignored. */
  readonly labels?: readonly string[] | undefined
}

/** Absent fields stay unchanged. */
export async function editBoard(
  ctx: Ctx,
  holder: ProjectOrGroupHolder,
  id: number,
  { labels, ...changes }: BoardChanges,
): Promise<BoardRow> {
  await ctx.transaction(async (tx) => {
    if (labels || changes.milestone_id) await holdPlace(tx, holder)
    const held = await holdBoard(tx, holder, id)
    await updateBoard(tx, id, {
      name: changes.name === undefined ? held.name : cleanName(changes.name),
      assignee_id: await referred(tx, ctx, holder, 'assignee_id', changes.assignee_id, held.assignee_id),
      milestone_id: await referred(tx, ctx, holder, 'milestone_id', changes.milestone_id, held.milestone_id),
      weight: changes.weight === undefined ? held.weight : changes.weight,
      hide_backlog_list: changes.hide_backlog_list ?? held.hide_backlog_list,
      hide_closed_list: changes.hide_closed_list ?? held.hide_closed_list,
    })
    if (!labels) return
    const titles = labels.map((title) => title.trim())
    await replaceBoardLabels(tx, id, await labelsTitled(tx, holder, ctx.actor, titles))
  })
  return getBoard(ctx, holder, id)
}

async function referred(
  tx: Tx,
  ctx: Ctx,
  holder: ProjectOrGroupHolder,
  what: 'assignee_id' | 'milestone_id',
  wanted: number | null | undefined,
  held: number | null,
): Promise<number | null> {
  if (wanted === undefined || wanted === held) return held
  if (!wanted) return null
  if (!(await mayRefer(tx, ctx, holder, what, wanted))) throw invalidFields({ [what]: ['is invalid'] })
  return wanted
}

/** Locks a board, and so its lists, until the transaction ends. Throws if the caller has lost the permission meanwhile. */
export async function holdBoard(tx: Tx, holder: ProjectOrGroupHolder, id: number): Promise<BoardValues> {
  const held = await lockBoard(tx, holder, id)
  await tx.requirePermission?.()
  if (!held) throw notFound('Board')
  return held
}

export async function removeBoard(ctx: Ctx, holder: ProjectOrGroupHolder, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    await holdBoard(tx, holder, id)
    await deleteBoard(tx, id)
  })
}
