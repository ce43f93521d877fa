import type { Ctx } from '../../../api/ctx.ts'
import { inOneTransaction } from '../../../api/within-transaction.ts'
import type { Tx } from '../../../db/db.ts'
import type { QuickAction } from './parse.ts'

/** What quick actions did. */
export type Applied = {
  /** The changed attributes, as an update would name them. */
  readonly changes: Readonly<Record<string, unknown>>
  /** One sentence for each action: what was done, or that it could not be done. */
  readonly summary: readonly string[]
}

/** What quick actions of a kind of noteable need of the transaction that applies them. */
export type ActionsInTransaction = {
  /** Names of those that cannot be part of it, because they change something outside the database, such as refs. */
  readonly outside: ReadonlySet<string>
  /** Takes the locks of these actions that others take before that of the noteable. */
  lock(tx: Tx, ctx: Ctx, actions: readonly QuickAction[]): Promise<unknown>
}

/** The quick actions of a noteable, with the rights of the caller. */
export type QuickActions = ActionsInTransaction & {
  /** Names in lower case. */
  readonly known: ReadonlySet<string>
  /**
   * Applies those that are part of the transaction. Resolves to what applies the others after its commit, and then has a sentence in its
   * summary for each action, in their order.
   */
  apply(within: Ctx, actions: readonly QuickAction[]): Promise<(after: Ctx) => Promise<Applied>>
}

/**
 * Saves something and applies the quick actions of its text, of which there is one at least, in one transaction: all take effect, or none.
 * Those that change something outside the database follow after the commit, with those that come after them: a crash in between loses
 * them, and the request is not answered. `save` may add refs that protect commits, which do no harm if the transaction fails
 * (`recordVersion`), and changes nothing else outside the database. `of` finds the actions of what is saved.
 */
export async function saveWithActions<Saved>(
  ctx: Ctx,
  actions: readonly QuickAction[],
  { outside, lock }: ActionsInTransaction,
  save: (within: Ctx) => Promise<Saved>,
  of: (within: Ctx, saved: Saved) => Promise<QuickActions>,
): Promise<{ readonly saved: Saved; readonly applied: Applied }> {
  const inside = actions.filter(({ name }) => !outside.has(name))
  const { saved, follow } = await inOneTransaction(
    ctx,
    async (tx) => {
      if (inside.length > 0) await lock(tx, { ...ctx, db: tx }, inside)
    },
    async (within) => {
      const done = await save(within)
      return { saved: done, follow: await (await of(within, done)).apply(within, actions) }
    },
  )
  return { saved, applied: await follow(ctx) }
}
