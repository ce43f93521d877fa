import type { Tx } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { auditedAs } from './audited.ts'
import type { Happening } from './happening.ts'

/** Entities as clients call them. */
export const entityTypes = ['Project', 'Group', 'User', 'Gitlab::Audit::InstanceScope'] as const

export type EntityType = (typeof entityTypes)[number]

const instancePath = 'gitlab_instance'
/** The installation is one. */
const instanceId = 1

function entityOf({ projectId, groupId, payload }: Happening, ofUser: boolean): { type: EntityType; id: number } {
  if (projectId !== undefined) return { type: 'Project', id: projectId }
  if (groupId !== undefined) return { type: 'Group', id: groupId }
  const userId = ofUser ? numberIn(payload, 'user_id') : null
  return userId === null ? { type: 'Gitlab::Audit::InstanceScope', id: instanceId } : { type: 'User', id: userId }
}

/**
 * Writes an event down for good, if its kind is audited (`audited.ts`): with the names that author, entity and target have now, and
 * with address and token of the request whose transaction it is.
 */
export async function writeAudit(tx: Tx, event: Happening): Promise<void> {
  const audited = auditedAs(event.kind)
  if (!audited || (audited.unless !== undefined && event.payload[audited.unless])) return
  const { verb, noun, target } = audited
  const { payload, actorId } = event
  const entity = entityOf(event, audited.ofUser === true)
  const subject = target
    ? {
        type: target.type,
        id: target.id === undefined ? null : numberIn(payload, target.id),
        name: textIn(payload, target.name),
      }
    : { ...entity, name: null }
  const path = textIn(payload, 'full_path') ?? (entity.type === 'User' ? textIn(payload, 'username') : null)
  const origin = tx.origin
  await tx.run(sql`
    insert into audit_events (event, author_id, author_name, impersonator_id, token_id, address, entity_type, entity_id, entity_path,
      verb, noun, target_type, target_id, target_details, facts)
    values (${event.kind}, ${actorId}, coalesce((select name from users where id = ${actorId}), ''), ${origin?.impersonatorId ?? null},
      ${origin?.tokenId ?? null}, ${origin?.address ?? null}, ${entity.type}, ${entity.id},
      coalesce(${path}, ${pathOf(entity)}, ''), ${verb}, ${noun}, ${subject.type}, ${subject.id},
      coalesce(${subject.name}, ${nameOf(subject)}, ${path}), ${JSON.stringify(payload)}::jsonb)`)
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

const numberIn = (payload: Happening['payload'], name: string): number | null =>
  typeof payload[name] === 'number' ? payload[name] : null

const textIn = (payload: Happening['payload'], name: string | undefined): string | null =>
  name !== undefined && typeof payload[name] === 'string' ? payload[name] : null
