import type { List } from '../../../api/list.ts'
import type { Db } from '../../../db/db.ts'
import { integer, json, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { EntityType } from '../../../events/audit.ts'
import type { Audited } from '../../../events/catalogue/declare.ts'

export const auditRow = {
  id: integer,
  event: text,
  author_id: nullable(integer),
  author_name: text,
  impersonator_id: nullable(integer),
  token_id: nullable(integer),
  address: nullable(text),
  entity_type: oneOf<EntityType>('Group', 'User', 'Project', 'Gitlab::Audit::InstanceScope'),
  entity_id: integer,
  entity_path: text,
  verb: oneOf<Audited['verb']>('add', 'change', 'remove'),
  noun: text,
  target_type: text,
  target_id: nullable(integer),
  target_details: nullable(text),
  facts: json<Record<string, unknown>>(),
  created_at: timestamp,
}
export type AuditRow = RowOf<typeof auditRow>

export type AuditFilters = {
  entity_type?: EntityType
  entity_id?: number
  created_after?: Date
  created_before?: Date
}

const columns =
  raw(`a.id, a.event, a.author_id, a.author_name, a.impersonator_id, a.token_id, a.address, a.entity_type, a.entity_id,
  a.entity_path, a.verb, a.noun, a.target_type, a.target_id, a.target_details, a.facts, a.created_at`)

/** Audit events of these entities in this period, newest first. */
export const auditEvents = (filters: AuditFilters): List => ({
  type: 'AuditEvent',
  select: sql`select ${columns} from audit_events a`,
  from: raw('from audit_events a'),
  where: conditions(filters),
  order: [{ by: raw('a.id'), direction: 'desc' }],
  keyset: { direction: 'desc' },
})

/** An audit event by id, if it belongs to the given entity. */
export const findAuditEvent = (
  db: Db,
  id: number,
  { entity_type, entity_id }: Pick<AuditFilters, 'entity_type' | 'entity_id'> = {},
): Promise<AuditRow | undefined> =>
  db.row(
    auditRow,
    sql`
      select ${columns}
      from audit_events a
      where a.id = ${id}
        and (${entity_type ?? null}::text is null or a.entity_type = ${entity_type ?? null})
        and (${entity_id ?? null}::bigint is null or a.entity_id = ${entity_id ?? null})
    `,
  )

function conditions({ entity_type, entity_id, created_after, created_before }: AuditFilters): Sql[] {
  const where: Sql[] = []
  if (entity_type !== undefined) where.push(sql`a.entity_type = ${entity_type}`)
  if (entity_id !== undefined) where.push(sql`a.entity_id = ${entity_id}`)
  if (created_after !== undefined) where.push(sql`a.created_at >= ${created_after}`)
  // Records show milliseconds, but stored times are more precise: an event is created at the displayed time.
  if (created_before !== undefined) where.push(sql`a.created_at < ${new Date(created_before.getTime() + 1)}`)
  return where
}
