import type { Ctx } from '../../../api/ctx.ts'
import { idIn, type RecordedEvent } from '../payloads/source.ts'
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
import { messagesOf, receives } from './messages.ts'

/** Events that become deliveries in one transaction, at most. */
const batchSize = 100

/** The id of a push follows those of the pushes on which it is based, which the id of its event need not. */
const pushIdOf = ({ payload }: RecordedEvent): number => idIn(payload, 'push_id')

/** The same events, with the pushes among them in their own order. */
function inOrder(events: readonly RecordedEvent[]): RecordedEvent[] {
  const pushes = events.filter(({ kind }) => kind === 'pushed').sort((one, other) => pushIdOf(one) - pushIdOf(other))
  return events.map((event) => (event.kind === 'pushed' ? pushes.shift()! : event))
}

/** Adds the deliveries of new events, in order. Resolves with what is left: more of them, some that wait for others, or nothing. */
export async function expandEvents(ctx: Ctx): Promise<'more' | 'waiting' | 'nothing'> {
  const events = inOrder(await newEvents(ctx.db, batchSize))
  if (events.length === 0) return (await hasNewEvents(ctx.db)) ? 'waiting' : 'nothing'
  const receivers = new Map<string, Promise<ReceiverRow[]>>()
  const deliveries: NewDelivery[] = []
  for (const event of events) {
    const place = `${event.project_id} ${event.group_id}`
    const found = receivers.get(place) ?? receiversOf(ctx.db, event)
    receivers.set(place, found)
    const [hooks, messages] = await Promise.all([found, messagesOf(ctx, event)])
    for (const message of messages)
      for (const hook of hooks)
        if (receives(hook, event, message)) {
          const { trigger, part, resource } = message
          deliveries.push({ hook_id: hook.id, event_id: event.id, trigger, part, resource })
        }
  }
  await ctx.transaction(async (tx) => {
    await lockQueue(tx)
    if (deliveries.length > 0) await insertDeliveries(tx, deliveries)
    await markExpanded(
      tx,
      events.map(({ id }) => id),
    )
  })
  return 'more'
}
