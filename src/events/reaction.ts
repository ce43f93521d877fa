import type { Tx } from '../db/db.ts'
import type { EventName, NewEvent } from './catalogue.ts'

/** An effect of an event in its transaction: a statement or two, or an enqueued job. */
export type Reaction<K extends EventName> = {
  (tx: Tx, event: NewEvent<K>): Promise<unknown>
  /** The same effect of several events of one change. Default: that of each. */
  readonly toAll?: (tx: Tx, events: readonly NewEvent<K>[]) => Promise<unknown>
}

/** A reaction that treats the events of one change together. */
export const toEvents = <E>(toAll: (tx: Tx, events: readonly E[]) => Promise<unknown>) =>
  Object.assign((tx: Tx, event: E) => toAll(tx, [event]), { toAll })

/** Reactions by event name. */
export type Reactions = { readonly [K in EventName]?: readonly Reaction<K>[] }

/** `Tx.react` for a table of reactions: runs all reactions to events of one kind concurrently. */
export const reactBy =
  (reactions: Reactions): NonNullable<Tx['react']> =>
  async (tx, events) => {
    const all = events as readonly NewEvent[]
    const kind = all[0]?.kind
    if (kind === undefined) return
    const those = (reactions as Readonly<Partial<Record<EventName, readonly Reaction<EventName>[]>>>)[kind] ?? []
    await Promise.all(those.flatMap((reaction) => reaction.toAll?.(tx, all) ?? all.map((event) => reaction(tx, event))))
  }
