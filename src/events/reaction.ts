import type { Tx } from '../db/db.ts'
import type { EventName, NewEvent } from './catalogue.ts'

/** What follows from an event, in its transaction: a statement or two, or a job that is queued in it. */
export type Reaction<K extends EventName> = (tx: Tx, event: NewEvent<K>) => Promise<unknown>

/** Name of an event → what follows from it. */
export type Reactions = { readonly [K in EventName]?: readonly Reaction<K>[] }

/** `Tx.react` for a table of reactions: all that follow from one event, at once. */
export const reactBy =
  (reactions: Reactions): NonNullable<Tx['react']> =>
  async (tx, event) => {
    const { kind } = event as NewEvent
    const those = (reactions as Readonly<Partial<Record<EventName, readonly Reaction<EventName>[]>>>)[kind]
    if (those) await Promise.all(those.map((reaction) => reaction(tx, event as NewEvent)))
  }
