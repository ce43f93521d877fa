import type { Tx } from '../db/db.ts'
import { sql } from '../db/sql.ts'
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

/**
 * Writes the audit row that the catalogue declares for an event, if any: with the current names of author, entity and target,
 * and with the address and token of the request that owns the transaction.
 */
export async function writeAudit(tx: Tx, event: AnyEvent): Promise<void> {
  const { audit, of } = declarationOf(event.kind)
  const fields: Fields = { ...event.payload, ...event.facts }
  if (!audit || (audit.unless !== undefined && fields[audit.unless])) return
  const { verb, noun, target } = audit
  const { actorId } = event
  const entity = entityOf(event, of.includes('user') ? numberIn(fields, 'user_id') : null)
  const subject = target
    ? { type: target.type, id: numberIn(fields, target.id), name: textIn(fields, target.name) }
    : { ...entity, name: null }
  const path = textIn(fields, audit.path)
  const origin = tx.origin
  await tx.run(sql`
    insert into audit_events (
      event, author_id, author_name, impersonator_id, token_id, address, entity_type, entity_id,
      entity_path, verb, noun, target_type, target_id, target_details, facts
    )
    values (
      ${event.kind}, ${actorId}, coalesce((select name from users where id = ${actorId}), ''),
      ${origin?.impersonatorId ?? null}, ${origin?.tokenId ?? null}, ${origin?.address ?? null}, ${entity.type},
      ${entity.id}, coalesce(${path}, ${pathOf(entity)}, ''), ${verb}, ${noun}, ${subject.type}, ${subject.id},
      coalesce(${subject.name}, ${nameOf(subject)}, ${path}), ${JSON.stringify(fields)}::jsonb
    )
  `)
}

const pathOf = ({ type, id }: { type: string; id: number | null }) => {
  switch (type) {
    case 'Project':
      return sql`(select full_path from projects where id = ${id})`
    case 'Group':
      return sql`(select full_path from namespaces where id = ${id})`
    case 'User':
      return sql`(select username from users where id = ${id})`
    default:
      return sql`${type === 'Gitlab::Audit::InstanceScope' ? instancePath : null}::text`
  }
}

const nameOf = (target: { type: string; id: number | null }) =>
  target.type === 'User' ? sql`(select name from users where id = ${target.id})` : pathOf(target)

function numberIn(fields: Fields, name: string | undefined): number | null {
  const value = name === undefined ? undefined : fields[name]
  return typeof value === 'number' ? value : null
}

function textIn(fields: Fields, name: string | undefined): string | null {
  const value = name === undefined ? undefined : fields[name]
  return typeof value === 'string' ? value : null
}
