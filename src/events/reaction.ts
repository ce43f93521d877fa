import type { Tx } from '../db/db.ts'
import type { EventName, NewEvent } from './catalogue.ts'

/** An effect of an event in its transaction: a statement or two, or an enqueued job. */
export type Reaction<K extends EventName> = (tx: Tx, event: NewEvent<K>) => Promise<unknown>

/** Reactions by event name. */
export type Reactions = { readonly [K in EventName]?: readonly Reaction<K>[] }

/** `Tx.react` for a table of reactions: runs all reactions to one event concurrently. */
export const reactBy =
  (reactions: Reactions): NonNullable<Tx['react']> =>
  async (tx, event) => {
    const { kind } = event as NewEvent
    const those = (reactions as Readonly<Partial<Record<EventName, readonly Reaction<EventName>[]>>>)[kind]
    if (those) await Promise.all(those.map((reaction) => reaction(tx, event as NewEvent)))
  }
