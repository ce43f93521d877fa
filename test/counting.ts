import type { Ctx } from '../src/api/ctx.ts'
import type { Tx } from '../src/db/db.ts'
import { contextFor } from './contexts.ts'
import type { World } from './world.ts'

const counted: ReadonlySet<unknown> = new Set(['rows', 'row', 'exists', 'run'])

/** A context of the jobs process that counts the statements of its transactions. */
export async function counting(world: World): Promise<{ ctx: Ctx; counts: { statements: number } }> {
  const ctx = await contextFor(world, null)
  const counts = { statements: 0 }
  const watched = (tx: Tx): Tx =>
    new Proxy(tx, {
      get(target, name) {
        const value = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...given: unknown[]) => {
          if (counted.has(name)) counts.statements++
          return value.apply(target, given)
        }
      },
    })
  const transaction: Ctx['transaction'] = (work) => ctx.transaction((tx) => work(watched(tx)))
  return { ctx: { ...ctx, transaction }, counts }
}
