import type { Tx } from '../db/db.ts'
import type { NewEvent } from './log.ts'

/** What follows from an event, in its transaction: a statement or two, or a job that is queued in it. */
export type Reaction = (tx: Tx, event: NewEvent) => Promise<unknown>

/** Kind of event → what follows from it. */
export type Reactions = Readonly<Record<string, readonly Reaction[]>>

/** `Tx.react` for a table of reactions: all that follow from one event, at once. */
export const reactBy =
  (reactions: Reactions): NonNullable<Tx['react']> =>
  async (tx, event) => {
    const { kind } = event as NewEvent
    if (!Object.hasOwn(reactions, kind)) return
    await Promise.all(reactions[kind]!.map((reaction) => reaction(tx, event as NewEvent)))
  }
