import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, listOf, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { heldBy, holderIds } from '../../groups/index.ts'
import type { HookHolder } from './holder.ts'

export const hookRow = {
  id: integer,
  project_id: nullable(integer),
  namespace_id: nullable(integer),
  shown_url: text,
  triggers: listOf(text),
  branch_filter: text,
  enable_ssl_verification: boolean,
  created_at: timestamp,
  updated_at: timestamp,
  /** In the future; null if nothing is wrong. */
  paused_until: nullable(timestamp),
}
export type HookRow = RowOf<typeof hookRow>

const columns = raw(`h.id, h.project_id, h.namespace_id, h.shown_url, h.triggers, h.branch_filter,
  h.enable_ssl_verification, h.created_at, h.updated_at, h.disabled_until as paused_until`)

/** Of the hooks `h` of a holder; services of projects are none of them. */
const hooksOfHolder = (holder: HookHolder): Sql => sql`(${heldBy('h', holder)} and h.service is null)`

export const hooksOf = (holder: HookHolder): List => ({
  type: 'Hook',
  select: sql`select ${columns} from hooks h`,
  from: raw('from hooks h'),
  where: [hooksOfHolder(holder)],
  order: [{ by: raw('h.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findHook = (db: Db, holder: HookHolder, id: number): Promise<HookRow | undefined> =>
  db.row(hookRow, sql`select ${columns} from hooks h where h.id = ${id} and ${hooksOfHolder(holder)}`)

export const countHooks = async (tx: Tx, holder: HookHolder): Promise<number> =>
  (await tx.row({ count: integer }, sql`select count(*) as count from hooks h where ${hooksOfHolder(holder)}`))!.count

/** Value of `disabled_until` of an imported hook: it sends nothing until a change or a test sets another. Later than any pause. */
export const untilChanged = '2999-01-01T00:00:00.000Z'

/** The id of the next hook: its secrets are encrypted for it before the row exists. */
export const nextHookId = async (tx: Tx): Promise<number> =>
  (await tx.row({ id: integer }, sql`select nextval(pg_get_serial_sequence('hooks', 'id')) as id`))!.id

export type NewHook = {
  readonly id: number
  readonly sealedUrl: string
  readonly shownUrl: string
  readonly host: string
  readonly sealedToken: string | null
  readonly triggers: readonly string[]
  readonly branchFilter: string
  readonly verifiesTls: boolean
}

export async function insertHook(tx: Tx, holder: HookHolder, hook: NewHook): Promise<HookRow> {
  const { projectId, namespaceId } = holderIds(holder)
  return (await tx.row(
    hookRow,
    sql`
      insert into hooks as h (
        id, project_id, namespace_id, sealed_url, shown_url, host, sealed_token, triggers, branch_filter,
        enable_ssl_verification
      )
      values (
        ${hook.id}, ${projectId}, ${namespaceId}, ${hook.sealedUrl}, ${hook.shownUrl}, ${hook.host},
        ${hook.sealedToken}, ${hook.triggers}, ${hook.branchFilter}, ${hook.verifiesTls}
      )
      returning ${columns}
    `,
  ))!
}

/** Absent values stay. `sealedToken`: null removes the token. */
export type HookChanges = { readonly [K in Exclude<keyof NewHook, 'id'>]?: NewHook[K] | undefined }

/** Also ends a pause, because the change may be the repair. Undefined if the hook is gone. */
export const updateHook = (
  tx: Tx,
  holder: HookHolder,
  id: number,
  changes: HookChanges,
): Promise<HookRow | undefined> =>
  tx.row(
    hookRow,
    sql`
      update hooks h
      set sealed_url = coalesce(${changes.sealedUrl ?? null}::text, sealed_url),
        shown_url = coalesce(${changes.shownUrl ?? null}::text, shown_url),
        host = coalesce(${changes.host ?? null}::text, host),
        sealed_token = case
          when ${changes.sealedToken !== undefined} then ${changes.sealedToken ?? null}::text
          else sealed_token
        end,
        triggers = coalesce(${changes.triggers ?? null}::text[], triggers),
        branch_filter = coalesce(${changes.branchFilter ?? null}::text, branch_filter),
        enable_ssl_verification = coalesce(${changes.verifiesTls ?? null}::boolean, enable_ssl_verification),
        updated_at = now(), failures = 0, disabled_until = null
      where h.id = ${id} and ${hooksOfHolder(holder)}
      returning ${columns}
    `,
  )

/** The encrypted URL and token of a hook or service. */
export const findSealed = (
  tx: Tx,
  id: number,
): Promise<{ sealed_url: string | null; sealed_token: string | null } | undefined> =>
  tx.row(
    { sealed_url: nullable(text), sealed_token: nullable(text) },
    sql`select sealed_url, sealed_token from hooks where id = ${id}`,
  )

/** A hook, locked until the transaction ends. */
export const lockHook = (tx: Tx, holder: HookHolder, id: number): Promise<HookRow | undefined> =>
  tx.row(hookRow, sql`select ${columns} from hooks h where h.id = ${id} and ${hooksOfHolder(holder)} for no key update`)

/** With its deliveries. Undefined if it is gone. */
export const deleteHook = (tx: Tx, holder: HookHolder, id: number): Promise<HookRow | undefined> =>
  tx.row(hookRow, sql`delete from hooks h where h.id = ${id} and ${hooksOfHolder(holder)} returning ${columns}`)

/**
 * Locks the project, group or installation, so that its hooks are counted one creation at a time. False if it is gone. Throws if the caller
 * has lost the permission meanwhile.
 */
export const lockHolder = async (tx: Tx, holder: HookHolder): Promise<boolean> => {
  const held = await tx.exists(lockOf(holder))
  if (held) await tx.requirePermission?.()
  return held
}

const lockOf = ({ of, id }: HookHolder): Sql =>
  of === 'instance'
    ? sql`select pg_advisory_xact_lock(hashtext('system hooks'))`
    : sql`
      select
      from ${raw(of === 'project' ? 'projects' : 'namespaces')}
      where id = ${id} and not deleting
      for no key update
    `
