import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, listOf, notNull, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { type Properties, slugs } from './kinds.ts'

export const serviceRow = {
  id: integer,
  service: notNull(oneOf(...slugs)),
  /** Scheme and host of the URL; empty for services that send mails. */
  shown_url: text,
  triggers: listOf(text),
  properties: notNull(json<Properties>()),
  created_at: timestamp,
  updated_at: timestamp,
  /** In the future; null if nothing is wrong. */
  paused_until: nullable(timestamp),
}
export type ServiceRow = RowOf<typeof serviceRow>

const columns = raw(`h.id, h.service, h.shown_url, h.triggers, h.properties, h.created_at, h.updated_at,
  h.disabled_until as paused_until`)

export const servicesOf = (projectId: number): List => ({
  type: 'Service',
  select: sql`select ${columns} from hooks h`,
  from: raw('from hooks h'),
  where: [sql`h.project_id = ${projectId}`, raw('h.service is not null')],
  order: [{ by: raw('h.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findService = (db: Db, projectId: number, slug: string): Promise<ServiceRow | undefined> =>
  db.row(serviceRow, sql`select ${columns} from hooks h where h.project_id = ${projectId} and h.service = ${slug}`)

/** A service, locked until the transaction ends. */
export const lockService = (tx: Tx, projectId: number, slug: string): Promise<ServiceRow | undefined> =>
  tx.row(
    serviceRow,
    sql`select ${columns} from hooks h where h.project_id = ${projectId} and h.service = ${slug} for no key update`,
  )

export type ServiceValues = {
  readonly triggers: readonly string[]
  readonly properties: Properties
  /** Where it sends to; absent if that stays, or for services that send mails. */
  readonly address?: { readonly sealedUrl: string; readonly origin: string; readonly host: string } | undefined
}

export const insertService = async (
  tx: Tx,
  projectId: number,
  slug: string,
  id: number,
  { triggers, properties, address }: ServiceValues,
): Promise<ServiceRow> =>
  (await tx.row(
    serviceRow,
    sql`
      insert into hooks as h (
        id, project_id, service, properties, sealed_url, shown_url, host, triggers, enable_ssl_verification
      )
      values (
        ${id}, ${projectId}, ${slug}, ${JSON.stringify(properties)}::jsonb, ${address?.sealedUrl ?? null},
        ${address?.origin ?? ''}, ${address?.host ?? ''}, ${triggers}, true
      )
      returning ${columns}
    `,
  ))!

/** Also ends a pause, because the change may be the repair. */
export const updateService = async (
  tx: Tx,
  id: number,
  { triggers, properties, address }: ServiceValues,
): Promise<ServiceRow> =>
  (await tx.row(
    serviceRow,
    sql`
      update hooks h
      set triggers = ${triggers}, properties = ${JSON.stringify(properties)}::jsonb,
        sealed_url = coalesce(${address?.sealedUrl ?? null}::text, sealed_url),
        shown_url = coalesce(${address?.origin ?? null}::text, shown_url),
        host = coalesce(${address?.host ?? null}::text, host), updated_at = now(), failures = 0, disabled_until = null
      where h.id = ${id}
      returning ${columns}
    `,
  ))!

/** With its deliveries. Undefined if it is gone. */
export const deleteService = (tx: Tx, projectId: number, slug: string): Promise<ServiceRow | undefined> =>
  tx.row(
    serviceRow,
    sql`delete from hooks h where h.project_id = ${projectId} and h.service = ${slug} returning ${columns}`,
  )

/** Null without a branch. */
export const defaultBranchOf = async (db: Db, projectId: number): Promise<string | null> =>
  (await db.row({ name: nullable(text) }, sql`select default_branch as name from projects where id = ${projectId}`))
    ?.name ?? null
