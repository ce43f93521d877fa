import type { TObject } from 'typebox'
import { allows, type Facts } from '../access/policy.ts'
import type { Tx } from '../db/db.ts'
import type { Ctx } from './ctx.ts'
import type { Subject } from './endpoint.ts'

/**
 * Whether the caller has an ability besides the one that the endpoint declares, read in the transaction: the facts of the subject are
 * older than a lock for which it waited. `path` names the subject: its parameters, or its id if that is all.
 */
export async function allowsNow<T extends { readonly facts: Facts }, A extends string>(
  subject: Subject<T, A, TObject>,
  ability: NoInfer<A>,
  path: number | Readonly<Record<string, unknown>>,
  ctx: Ctx,
  tx: Tx,
): Promise<boolean> {
  const now = await subject.load(typeof path === 'number' ? { id: String(path) } : path, { ...ctx, db: tx })
  return now !== undefined && allows(subject.policy[ability], ctx.actor, now.facts)
}
