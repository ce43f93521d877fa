import type { AnyEvent } from '../../../events/catalogue.ts'
import { type Reaction, type Reactions, toEvents } from '../../../events/reaction.ts'
import { insideGroup, ownedByUser, recordDeletedProjects, recordDeletedSubgroups } from './contents-queries.ts'
import { recordHookEvents } from './record-queries.ts'
import { type HookedEvent, hookedEvents, ruleOf } from './rules.ts'

/** Writes what hooks receive of an event; the sender fans it out and sends it after the commit. */
const recordForHooks: Reaction<HookedEvent> = toEvents((tx, events: readonly (AnyEvent & { kind: HookedEvent })[]) =>
  recordHookEvents(tx, events, ruleOf(events[0]!.kind)),
)

/** What goes with a group is sent before the group. */
const recordGroup: Reaction<'group_deleted'> = async (tx, event) => {
  await recordDeletedProjects(tx, insideGroup(event.groupId), event.actorId)
  await recordDeletedSubgroups(tx, event.groupId, event.actorId)
  await recordHookEvents(tx, [event], ruleOf(event.kind))
}

/** Personal projects go with their user. */
const recordUser: Reaction<'user_deleted'> = async (tx, event) => {
  await recordDeletedProjects(tx, ownedByUser(event.payload.user_id), event.actorId)
  await recordHookEvents(tx, [event], ruleOf(event.kind))
}

/** The reactions of a table, and for each event that hooks receive, that it is recorded for them. */
export const alsoForHooks = (reactions: Reactions): Reactions => ({
  ...reactions,
  ...Object.fromEntries(hookedEvents.map((kind) => [kind, [...(reactions[kind] ?? []), recordForHooks]])),
  group_deleted: [...(reactions.group_deleted ?? []), recordGroup],
  user_deleted: [...(reactions.user_deleted ?? []), recordUser],
})
