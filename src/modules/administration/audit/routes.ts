import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, OneOf, Optional, Params, Timestamp } from '../../../api/params/types.ts'
import type { Db } from '../../../db/db.ts'
import { entityTypes } from '../../../events/audit.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { ofProjectsAndGroups } from '../../groups/index.ts'
import { instance } from '../../instance/index.ts'
import { AuditEvent } from './entity.ts'
import { type AuditFilters, type AuditRow, auditEvents, auditRow, findAuditEvent } from './queries.ts'

const time = {
  created_after: Optional(Timestamp({ description: 'Created at or after this time' })),
  created_before: Optional(Timestamp({ description: 'Created at or before this time' })),
}

const audit_event_id = Id({ description: 'ID of the audit event' })

async function getAuditEvent(db: Db, id: number, of: AuditFilters = {}): Promise<AuditRow> {
  const row = await findAuditEvent(db, id, of)
  if (!row) throw rowNotFound()
  return row
}

const instanceRoutes = [
  endpoint({
    method: 'GET',
    path: '/audit_events',
    summary: 'List audit events of the instance',
    description: 'Newest first.',
    subject: instance,
    allow: 'administer',
    params: Params({
      entity_type: Optional(OneOf(entityTypes, { description: 'Type of the entity' })),
      entity_id: Optional(Id({ description: 'ID of the entity' })),
      ...time,
    }),
    paged: true,
    returns: AuditEvent,
    handle: ({ params, page, ctx }) => fetchPage(ctx.db, auditRow, auditEvents(params), page),
  }),

  endpoint({
    method: 'GET',
    path: '/audit_events/:id',
    summary: 'Get an audit event',
    subject: instance,
    allow: 'administer',
    params: Params({ id: audit_event_id }),
    returns: AuditEvent,
    handle: ({ params, ctx }) => getAuditEvent(ctx.db, params.id),
  }),
]

const heldRoutes = ofProjectsAndGroups(({ of, base, subject }) => {
  const entity = (id: number) => ({ entity_type: of === 'project' ? 'Project' : 'Group', entity_id: id }) as const
  return [
    endpoint({
      method: 'GET',
      path: `${base}/audit_events`,
      summary: `List audit events of a ${of}`,
      description: 'Newest first.',
      subject,
      allow: 'read_audit_event',
      params: Params(time),
      paged: true,
      returns: AuditEvent,
      handle: ({ subject: { id }, params, page, ctx }) =>
        fetchPage(ctx.db, auditRow, auditEvents({ ...params, ...entity(id) }), page),
    }),

    endpoint({
      method: 'GET',
      path: `${base}/audit_events/:audit_event_id`,
      summary: `Get a ${of} audit event`,
      subject,
      allow: 'read_audit_event',
      params: Params({ audit_event_id }),
      returns: AuditEvent,
      handle: ({ subject: { id }, params, ctx }) => getAuditEvent(ctx.db, params.audit_event_id, entity(id)),
    }),
  ]
})

export const auditRoutes = [...instanceRoutes, ...heldRoutes]
