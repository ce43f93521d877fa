import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { type DiscussedSubject, withArticle } from '../../discussion/index.ts'
import { ResourceLabelEvent } from './entity.ts'
import { findLabelEvent, labelEventRow, labelEventsOf } from './queries.ts'

/** Endpoints of label events of one kind of noteable. */
export function labelEventRoutesOf<T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: DiscussedSubject<T, A, P>,
) {
  const path = `${about.path}/resource_label_events`
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List ${about.noun} label events`,
      description: 'Tells when labels were added and removed. Oldest first.',
      subject: about.subject,
      allow: about.read,
      paged: true,
      returns: ResourceLabelEvent,
      handle: ({ subject, page, ctx }) =>
        fetchPage(ctx.db, labelEventRow, labelEventsOf(about.discussed(subject)), page),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:resource_label_event_id`,
      summary: `Get ${withArticle(about.noun)} label event`,
      subject: about.subject,
      allow: about.read,
      params: Params({ resource_label_event_id: Id({ description: 'ID of the event' }) }),
      returns: ResourceLabelEvent,
      async handle({ subject, params, ctx }) {
        const event = await findLabelEvent(ctx.db, about.discussed(subject), params.resource_label_event_id)
        if (!event) throw rowNotFound()
        return event
      },
    }),
  ]
}
