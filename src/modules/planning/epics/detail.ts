import type { Ctx } from '../../../api/ctx.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import type { EpicShown } from './entity.ts'
import { findEpicRecord } from './record-queries.ts'

/** The record of one epic, with references as in its group. One statement. */
export async function getEpic(ctx: Ctx, id: number): Promise<EpicShown> {
  const epic = await findEpicRecord(ctx.db, ctx.actor, id)
  if (!epic) throw rowNotFound()
  return { epic, within: { of: 'group', full_path: epic.full_path } }
}
