import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { mergeRequest } from '../merge-requests/subject.ts'
import { ResourceLabelEvent } from './entity.ts'
import { findLabelEvent, type LabelEventRow, labelEventsOf } from './queries.ts'

const path = '/projects/:id/merge_requests/:merge_request_iid/resource_label_events'

export const labelEventRoutes = [
  endpoint({
    method: 'GET',
    path,
    summary: 'List merge request label events',
    description: 'Tells when labels were added and removed. Oldest first.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    paged: true,
    returns: ResourceLabelEvent,
    handle: ({ subject, page, ctx }) => fetchPage<LabelEventRow>(ctx.db, labelEventsOf(subject), page),
  }),

  endpoint({
    method: 'GET',
    path: `${path}/:resource_label_event_id`,
    summary: 'Get a merge request label event',
    subject: mergeRequest,
    allow: 'read_merge_request',
    params: Params({ resource_label_event_id: Id({ description: 'ID of the event' }) }),
    returns: ResourceLabelEvent,
    async handle({ subject, params, ctx }) {
      const event = await findLabelEvent(ctx.db, subject, params.resource_label_event_id)
      if (!event) throw rowNotFound()
      return event
    },
  }),
]
