import { AsyncLocalStorage } from 'node:async_hooks'
import type { Database, Tx } from '../db/db.ts'
import type { Ctx } from './ctx.ts'
import type { OutsideEffects } from './outside.ts'
import { RecordTexts } from './record-texts.ts'

/** Maximum bytes of the records that such a context serializes for itself. */
const ownTextBytes = 4 * 1024 * 1024

type Within = {
  readonly ctx: Ctx
  /** Resolves when its transactions have ended. */
  settled(): Promise<unknown>
  /** Every statement fails from now on. */
  end(): void
}

/** A context whose statements all belong to the transaction. Its transactions are savepoints. */
export function contextWithin(ctx: Ctx, tx: Tx): Within {
  let hasEnded = false
  let last: Promise<unknown> = Promise.resolve()
  const nested = new AsyncLocalStorage<true>()
  const live =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (hasEnded) throw new Error('the request has ended, and its transaction with it')
      return method(...args)
    }
  const db = { ...tx, rows: live(tx.rows), row: live(tx.row), exists: live(tx.exists), run: live(tx.run) } as Tx
  const transaction: Database['transaction'] = (work) => {
    const step = () => nested.run(true, () => tx.savepoint(() => work(db)))
    if (nested.getStore()) return step()
    // Savepoints are a stack: transactions of a request that run at the same time take turns.
    const turn = last.then(step)
    last = turn.catch(() => {})
    return turn
  }
  return {
    ctx: {
      ...ctx,
      db,
      transaction,
      // The shared cache must not hold what may be rolled back.
      texts: new RecordTexts(ownTextBytes),
      inputTexts: new RecordTexts(ownTextBytes),
    },
    settled: () => last,
    end() {
      hasEnded = true
    },
  }
}

const refuse = () => {
  throw new Error('a step of one transaction changes something outside the database')
}
const refusing: OutsideEffects = { prepare: refuse, begin: async () => refuse() }

/**
 * Runs steps with transactions of their own in one transaction: all take effect, or none. Steps that announce a change outside the
 * database (`outside.ts`) fail; refs that a version of a merge request adds to protect its commits are not announced, and remain if the
 * transaction fails (`recordVersion`). `lock` takes the locks of later steps that others take first, before those of the first step. May
 * run again after a deadlock.
 */
export const inOneTransaction = <T>(
  ctx: Ctx,
  lock: (tx: Tx) => Promise<unknown>,
  steps: (ctx: Ctx) => Promise<T>,
): Promise<T> =>
  ctx.transaction(async (tx) => {
    await lock(tx)
    const within = contextWithin(ctx, tx)
    try {
      // A request with an idempotency key may have to run again without its transaction: it decides.
      return await steps({ ...within.ctx, outside: ctx.outside ?? refusing })
    } finally {
      await within.settled()
      within.end()
    }
  })
