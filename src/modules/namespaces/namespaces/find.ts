import type { Ctx } from '../../../api/ctx.ts'
import { notFound } from '../../../kernel/failure.ts'
import { findNamespace, type NamespaceWithLevel } from './queries.ts'

/** A namespace by id or full path, for callers with a level in it, its owner and administrators; 404 for others. */
export async function readableNamespace(
  ctx: Ctx,
  name: number | string,
  options: { counted?: boolean } = {},
): Promise<NamespaceWithLevel> {
  const actor = ctx.actor!
  const row = await findNamespace(ctx.db, actor, name, options)
  if (!row || !(actor.admin || row.level !== null || row.owner_id === actor.id)) throw notFound('Namespace')
  return row
}
