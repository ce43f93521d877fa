import type { Ctx } from '../../../api/ctx.ts'
import {
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

/** Adds the deliveries of new events, oldest first. True if there may be more. */
export async function expandEvents(ctx: Ctx): Promise<boolean> {
  const events = await newEvents(ctx.db, batchSize)
  if (events.length === 0) return false
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
  return events.length === batchSize
}
