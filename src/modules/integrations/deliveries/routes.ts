import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, OneOf, Optional, Params, Timestamp } from '../../../api/params/types.ts'
import { ofProjectsAndGroups } from '../../groups/index.ts'
import type { HookHolder } from '../hooks/holder.ts'
import { hookId } from '../hooks/params.ts'
import { getHook } from '../hooks/service.ts'
import { flagsOf } from '../hooks/triggers.ts'
import { HookEvent, HookReplay } from './entity.ts'
import { deliveriesOf, deliveryRow, states } from './log-queries.ts'
import { replay, resend, testHook } from './service.ts'

/** What the log of a hook and its repetitions take; the same for hooks of all kinds. */
export const logParams = {
  list: Params({ hook_id: hookId, state: Optional(OneOf(states, { description: 'Only deliveries in this state' })) }),
  resend: Params({ hook_id: hookId, event_id: Id({ description: 'ID of the delivery' }) }),
  replay: Params({ hook_id: hookId, since: Timestamp({ description: 'Time of the oldest event to send again' }) }),
}

/** What was sent to hooks of projects and groups. */
export const deliveryRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf }) => {
  const path = `${base}/hooks/:hook_id` as const
  const holder = (held: Parameters<typeof holderOf>[0]) => holderOf(held) as HookHolder
  const test = {
    method: 'POST',
    description:
      'Sends the newest record of this kind, whatever the flags of the hook are. Responds with 422 without such a record. The response is the delivery, which is sent soon after.',
    subject,
    allow: 'admin_hook',
    returns: HookEvent,
  } as const
  return [
    endpoint({
      method: 'GET',
      path: `${path}/events`,
      summary: `List deliveries of a ${of} hook`,
      description: 'Newest first, of the last seven days.',
      subject,
      allow: 'admin_hook',
      params: logParams.list,
      paged: true,
      returns: HookEvent,
      async handle({ subject: held, params: { hook_id, state }, page, ctx }) {
        await getHook(ctx, holder(held), hook_id)
        return fetchPage(ctx.db, deliveryRow, deliveriesOf(hook_id, state), page)
      },
    }),

    endpoint({
      method: 'POST',
      path: `${path}/events/:event_id/resend`,
      summary: `Resend an event of a ${of}`,
      description: 'With the same ids, also if it was received. Also ends a pause of the hook.',
      subject,
      allow: 'admin_hook',
      params: logParams.resend,
      returns: HookEvent,
      async handle({ subject: held, params: { hook_id, event_id }, ctx }) {
        await getHook(ctx, holder(held), hook_id)
        return resend(ctx, hook_id, event_id)
      },
    }),

    endpoint({
      method: 'POST',
      path: `${path}/replay`,
      summary: `Replay events of a ${of} hook`,
      description:
        'Sends the events since a time again, in order and with the same ids. Also ends a pause of the hook.',
      subject,
      allow: 'admin_hook',
      params: logParams.replay,
      returns: HookReplay,
      async handle({ subject: held, params: { hook_id, since }, ctx }) {
        await getHook(ctx, holder(held), hook_id)
        return replay(ctx, hook_id, since)
      },
    }),

    endpoint({
      ...test,
      path: `${path}/test`,
      summary: `Test a ${of} hook`,
      params: Params({
        hook_id: hookId,
        trigger: OneOf(flagsOf[of], { default: 'push_events', description: 'Flag whose event is sent' }),
      }),
      handle: ({ subject: held, params: { hook_id, trigger }, ctx }) => testHook(ctx, holder(held), hook_id, trigger),
    }),

    endpoint({
      ...test,
      path: `${path}/test/:trigger`,
      summary: `Test a ${of} hook trigger`,
      params: Params({
        hook_id: hookId,
        trigger: OneOf(flagsOf[of], { description: 'Flag whose event is sent' }),
      }),
      handle: ({ subject: held, params: { hook_id, trigger }, ctx }) => testHook(ctx, holder(held), hook_id, trigger),
    }),
  ]
})
