import type { Tx } from '../db/db.ts'
import { raw, type Sql, sql } from '../db/sql.ts'
import { type AnyEvent, declarationOf } from './catalogue.ts'

/** Entity types as on the wire. */
export const entityTypes = ['Project', 'Group', 'User', 'Gitlab::Audit::InstanceScope'] as const

export type EntityType = (typeof entityTypes)[number]

const instancePath = 'gitlab_instance'
/** There is one instance. */
const instanceId = 1

type Fields = Readonly<Record<string, unknown>>

function entityOf({ projectId, groupId }: AnyEvent, userId: number | null): { type: EntityType; id: number } {
  if (projectId !== undefined) return { type: 'Project', id: projectId }
  if (groupId !== undefined) return { type: 'Group', id: groupId }
  return userId === null ? { type: 'Gitlab::Audit::InstanceScope', id: instanceId } : { type: 'User', id: userId }
}

/** The values of the audit row that the catalogue declares for an event, if any. */
function auditRowOf(event: AnyEvent) {
  const { audit, of } = declarationOf(event.kind)
  const fields: Fields = { ...event.payload, ...event.facts }
  if (!audit || audit.unless?.some((name) => fields[name])) return undefined
  const { verb, noun, target } = audit
  const entity = entityOf(event, of.includes('user') ? numberIn(fields, 'user_id') : null)
  const subject = target ? { type: target.type, id: numberIn(fields, target.id) } : entity
  return {
    event: event.kind,
    author_id: event.actorId,
    entity_type: entity.type,
    entity_id: entity.id,
    path: textIn(fields, audit.path),
    verb,
    noun,
    target_type: subject.type,
    target_id: subject.id,
    target_name: target ? textIn(fields, target.name) : null,
    facts: fields,
  }
}

/**
 * Writes the audit rows that the catalogue declares for events: with the current names of author, entity and target,
 * and with the address and token of the request that owns the transaction.
 */
export async function writeAudit(tx: Tx, events: readonly AnyEvent[]): Promise<void> {
  const rows = events.flatMap((event) => auditRowOf(event) ?? [])
  if (rows.length === 0) return
  const origin = tx.origin
  await tx.run(sql`
    insert into audit_events (
      event, author_id, author_name, impersonator_id, token_id, address, entity_type, entity_id,
      entity_path, verb, noun, target_type, target_id, target_details, facts
    )
    select a.event, a.author_id, coalesce((select name from users where id = a.author_id), ''),
      ${origin?.impersonatorId ?? null}::bigint, ${origin?.tokenId ?? null}::bigint, ${origin?.address ?? null}::text,
      a.entity_type, a.entity_id, coalesce(a.path, ${pathOf('a.entity_type', 'a.entity_id')}, ''), a.verb, a.noun,
      a.target_type, a.target_id,
      coalesce(
        a.target_name,
        case
          when a.target_type = 'User' then (select name from users where id = a.target_id)
          else ${pathOf('a.target_type', 'a.target_id')}
        end,
        a.path
      ),
      a.facts
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as a (
      event text, author_id bigint, entity_type text, entity_id bigint, path text, verb text, noun text,
      target_type text, target_id bigint, target_name text, facts jsonb
    )
  `)
}

/** The current path of an entity, whose type and id are these expressions; null for what has none. */
const pathOf = (type: string, id: string): Sql => sql`
  case ${raw(type)}
    when 'Project' then (select full_path from projects where id = ${raw(id)})
    when 'Group' then (select full_path from namespaces where id = ${raw(id)})
    when 'User' then (select username from users where id = ${raw(id)})
    when 'Gitlab::Audit::InstanceScope' then ${instancePath}
  end
`

function numberIn(fields: Fields, name: string | undefined): number | null {
  const value = name === undefined ? undefined : fields[name]
  return typeof value === 'number' ? value : null
}

function textIn(fields: Fields, name: string | undefined): string | null {
  const value = name === undefined ? undefined : fields[name]
  return typeof value === 'string' ? value : null
}
