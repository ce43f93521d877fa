import { type Endpoint, endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, OneOf, Optional, Params } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { slugParam } from '../services/routes.ts'
import { getService } from '../services/service.ts'
import { HookEvent } from './entity.ts'
import { deliveriesOf, deliveryRow, states } from './log-queries.ts'
import { resend } from './service.ts'

const path = '/projects/:id/integrations/:slug/events'

/** What was sent by integrations of projects. */
export const serviceDeliveryRoutes: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    summary: 'List deliveries of an integration',
    description: 'Newest first, of the last seven days.',
    subject: project,
    allow: 'admin_hook',
    params: Params({
      slug: slugParam,
      state: Optional(OneOf(states, { description: 'Only deliveries in this state' })),
    }),
    paged: true,
    returns: HookEvent,
    async handle({ subject, params: { slug, state }, page, ctx }) {
      const { id } = await getService(ctx, subject.id, slug)
      return fetchPage(ctx.db, deliveryRow, deliveriesOf(id, state), page)
    },
  }),

  endpoint({
    method: 'POST',
    path: `${path}/:event_id/resend`,
    summary: 'Resend an event by an integration',
    description: 'Also if it was received. Also ends a pause of the integration.',
    subject: project,
    allow: 'admin_hook',
    params: Params({ slug: slugParam, event_id: Id({ description: 'ID of the delivery' }) }),
    returns: HookEvent,
    async handle({ subject, params: { slug, event_id }, ctx }) {
      const { id } = await getService(ctx, subject.id, slug)
      return resend(ctx, id, event_id)
    },
  }),
]
