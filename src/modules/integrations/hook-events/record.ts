import type { Reaction, Reactions } from '../../../events/reaction.ts'
import { recordHookEvent } from './record-queries.ts'
import { type HookedEvent, hookedEvents, ruleOf } from './rules.ts'

/** Writes what hooks receive of an event; the sender fans it out and sends it after the commit. */
const recordForHooks: Reaction<HookedEvent> = (tx, event) => recordHookEvent(tx, event, ruleOf(event.kind))

/** The reactions of a table, and for each event that hooks receive, that it is recorded for them. */
export const alsoForHooks = (reactions: Reactions): Reactions => ({
  ...reactions,
  ...Object.fromEntries(hookedEvents.map((kind) => [kind, [...(reactions[kind] ?? []), recordForHooks]])),
})
