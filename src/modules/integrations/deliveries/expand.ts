import type { Ctx } from '../../../api/ctx.ts'
import { idIn, type RecordedEvent } from '../payloads/source.ts'
import { ServedBranches } from '../services/branches.ts'
import {
  hasNewEvents,
  insertDeliveries,
  lockQueue,
  markExpanded,
  type NewDelivery,
  newEvents,
  type ReceiverRow,
  receiversOf,
} from './expand-queries.ts'
import { confidentialIssues, type Message, messagesOf, receives } from './messages.ts'

/** Events that become deliveries in one transaction, at most. */
const batchSize = 100

/** The id of a push follows those of the pushes on which it is based, which the id of its event need not. */
const pushIdOf = ({ payload }: RecordedEvent): number => idIn(payload, 'push_id')

/** The same events, with the pushes among them in their own order. */
function inOrder(events: readonly RecordedEvent[]): RecordedEvent[] {
  const pushes = events.filter(({ kind }) => kind === 'pushed').sort((one, other) => pushIdOf(one) - pushIdOf(other))
  return events.map((event) => (event.kind === 'pushed' ? pushes.shift()! : event))
}

/** The branches of a project, if one of its services is notified of some of them only. */
const branchesFor = async (
  ctx: Ctx,
  { project_id }: RecordedEvent,
  hooks: readonly ReceiverRow[],
  messages: readonly Message[],
): Promise<ServedBranches | undefined> =>
  project_id !== null &&
  hooks.some(({ service }) => service !== null) &&
  messages.some(({ branch }) => branch !== undefined)
    ? ServedBranches.load(ctx, project_id)
    : undefined

/** Adds the deliveries of new events, in order. Resolves with what is left: more of them, some that wait for others, or nothing. */
export async function expandEvents(ctx: Ctx): Promise<'more' | 'waiting' | 'nothing'> {
  const events = inOrder(await newEvents(ctx.db, batchSize))
  if (events.length === 0) return (await hasNewEvents(ctx.db)) ? 'waiting' : 'nothing'
  const receivers = new Map<string, Promise<ReceiverRow[]>>()
  const receiversAt = (event: RecordedEvent) => {
    // Of a project or group that is gone, the event has the groups that were above it.
    const place = `${event.project_id} ${event.group_id} ${event.facts['ancestor_ids'] ?? ''}`
    const found = receivers.get(place) ?? receiversOf(ctx.db, event)
    receivers.set(place, found)
    return found
  }
  const confidential = await confidentialIssues(ctx, events)
  const deliveries = await Promise.all(
    events.map(async (event): Promise<NewDelivery[]> => {
      const [hooks, messages] = await Promise.all([receiversAt(event), messagesOf(ctx, event, confidential)])
      const branches = await branchesFor(ctx, event, hooks, messages)
      return messages.flatMap((message) =>
        hooks
          .filter((hook) => receives(hook, event, message, branches))
          .map(({ id }) => ({
            hook_id: id,
            event_id: event.id,
            trigger: message.trigger,
            part: message.part,
            resource: message.resource,
          })),
      )
    }),
  )
  await ctx.transaction(async (tx) => {
    await lockQueue(tx)
    await insertDeliveries(tx, deliveries.flat())
    await markExpanded(
      tx,
      events.map(({ id }) => id),
    )
  })
  return 'more'
}
