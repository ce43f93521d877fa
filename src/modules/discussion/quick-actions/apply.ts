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
  /** Has a sentence in its summary for each action, in their order. */
  apply(ctx: Ctx, actions: readonly QuickAction[]): Promise<Applied>
}

/**
 * Saves something and applies the quick actions of its text, of which there is one at least, in one transaction: all take effect, or none.
 * Those that change something outside the database follow after the commit: a crash in between loses them, and the request is not
 * answered. `save` changes nothing outside the database. `of` finds the actions of what is saved.
 */
export async function saveWithActions<Saved>(
  ctx: Ctx,
  actions: readonly QuickAction[],
  { outside, lock }: ActionsInTransaction,
  save: (within: Ctx) => Promise<Saved>,
  of: (now: Ctx, saved: Saved) => Promise<QuickActions>,
): Promise<{ readonly saved: Saved; readonly applied: Applied }> {
  const isLater = ({ name }: QuickAction): boolean => outside.has(name)
  const [later, first] = [actions.filter(isLater), actions.filter((action) => !isLater(action))]
  const apply = async (now: Ctx, saved: Saved, which: readonly QuickAction[]): Promise<Applied> =>
    which.length === 0 ? { changes: {}, summary: [] } : (await of(now, saved)).apply(now, which)
  const { saved, applied } = await inOneTransaction(
    ctx,
    async (tx) => {
      if (first.length > 0) await lock(tx, { ...ctx, db: tx }, first)
    },
    async (within) => {
      const done = await save(within)
      return { saved: done, applied: await apply(within, done, first) }
    },
  )
  const after = await apply(ctx, saved, later)
  const [sentences, laterSentences] = [applied.summary.values(), after.summary.values()]
  const summary = actions.map((action) => (isLater(action) ? laterSentences : sentences).next().value!)
  return { saved, applied: { changes: { ...applied.changes, ...after.changes }, summary } }
}
