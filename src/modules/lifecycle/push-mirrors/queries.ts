import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { isDue, raw, type Sql, sql } from '../../../db/sql.ts'
import { updateStatuses } from '../remotes/update-fields.ts'
import { type UpdateResult, updateAtRest, updateEnded, updateScheduled } from '../remotes/update-queries.ts'

/** A push mirror: row of the table `push_mirrors`. */
export const pushMirrorRow = {
  id: integer,
  shown_url: text,
  enabled: boolean,
  only_protected_branches: boolean,
  keep_divergent_refs: boolean,
  update_status: oneOf(...updateStatuses),
  last_error: nullable(text),
  last_update_started_at: nullable(timestamp),
  last_update_at: nullable(timestamp),
  last_successful_update_at: nullable(timestamp),
}
export type PushMirrorRow = RowOf<typeof pushMirrorRow>

const columns = raw(`m.id, m.shown_url, m.enabled, m.only_protected_branches, m.keep_divergent_refs, m.update_status,
  m.last_error, m.last_update_started_at, m.last_update_at, m.last_successful_update_at`)

export const pushMirrorsOf = (projectId: number): List => ({
  type: 'PushMirror',
  select: sql`select ${columns} from push_mirrors m`,
  from: raw('from push_mirrors m'),
  where: [sql`m.project_id = ${projectId}`],
  order: [{ by: raw('m.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findPushMirror = (db: Db, projectId: number, id: number): Promise<PushMirrorRow | undefined> =>
  db.row(pushMirrorRow, sql`select ${columns} from push_mirrors m where m.project_id = ${projectId} and m.id = ${id}`)

/** The target of a mirror, and the user who set it up. */
export const findPushRemote = (
  db: Db,
  id: number,
): Promise<{ shown_url: string; user_id: number | null } | undefined> =>
  db.row(
    { shown_url: text, user_id: nullable(integer) },
    sql`select shown_url, user_id from push_mirrors where id = ${id}`,
  )

export const countPushMirrors = async (tx: Tx, projectId: number): Promise<number> =>
  (await tx.row({ count: integer }, sql`select count(*) as count from push_mirrors where project_id = ${projectId}`))!
    .count

export type PushMirrorValues = {
  readonly enabled: boolean
  readonly only_protected_branches: boolean
  readonly keep_divergent_refs: boolean
}

/** The id of the next mirror: its URL is encrypted for it before the row exists. */
export const nextPushMirrorId = async (tx: Tx): Promise<number> =>
  (await tx.row({ id: integer }, sql`select nextval(pg_get_serial_sequence('push_mirrors', 'id')) as id`))!.id

export const insertPushMirror = async (
  tx: Tx,
  projectId: number,
  mirror: PushMirrorValues & { id: number; userId: number; sealedUrl: string; shownUrl: string },
): Promise<PushMirrorRow> =>
  (await tx.row(
    pushMirrorRow,
    sql`
      insert into push_mirrors as m (
        id, project_id, user_id, sealed_url, shown_url, enabled, only_protected_branches,
        keep_divergent_refs
      )
      values (
        ${mirror.id}, ${projectId}, ${mirror.userId}, ${mirror.sealedUrl}, ${mirror.shownUrl}, ${mirror.enabled},
        ${mirror.only_protected_branches}, ${mirror.keep_divergent_refs}
      )
      returning ${columns}
    `,
  ))!

/** Changes a mirror, which then has the rights of this user. Forgets its failures. Undefined if it is gone. */
export const updatePushMirror = (
  tx: Tx,
  projectId: number,
  id: number,
  { enabled, only_protected_branches, keep_divergent_refs, userId }: Partial<PushMirrorValues> & { userId: number },
): Promise<PushMirrorRow | undefined> =>
  tx.row(
    pushMirrorRow,
    sql`
      update push_mirrors m
      set enabled = coalesce(${enabled ?? null}::boolean, enabled),
        only_protected_branches = coalesce(${only_protected_branches ?? null}::boolean, only_protected_branches),
        keep_divergent_refs = coalesce(${keep_divergent_refs ?? null}::boolean, keep_divergent_refs),
        user_id = ${userId}, failures = 0, next_at = null
      where m.project_id = ${projectId} and m.id = ${id}
      returning ${columns}
    `,
  )

/** Deletes a mirror; returns its URL without credentials. */
export const deletePushMirror = (tx: Tx, projectId: number, id: number): Promise<{ shown_url: string } | undefined> =>
  tx.row(
    { shown_url: text },
    sql`delete from push_mirrors where project_id = ${projectId} and id = ${id} returning shown_url`,
  )

/** Condition: the project has enabled push mirrors. */
export const hasPushMirrors = (projectId: number): Sql =>
  sql`exists (select from push_mirrors where project_id = ${projectId} and enabled)`

/** Marks the enabled mirrors of a project, or only one of them, as scheduled. Returns their ids. */
export async function schedulePushes(tx: Tx, projectId: number, only?: number): Promise<number[]> {
  const rows = await tx.rows(
    { id: integer },
    sql`
      update push_mirrors
      set ${updateScheduled}
      where project_id = ${projectId} and enabled and (${only ?? null}::bigint is null or id = ${only ?? null})
      returning id
    `,
  )
  return rows.map(({ id }) => id)
}

/** After this time an update counts as interrupted, and is due again. */
const lease = raw(`interval '4 hours'`)

/** Updates that failed, or were interrupted, and are due again, at most 100. The caller enqueues them. */
export const dueRetries = (tx: Tx): Promise<{ id: number; project_id: number }[]> =>
  tx.rows(
    { id: integer, project_id: integer },
    sql`
      update push_mirrors
      set next_at = now() + ${lease}, ${updateScheduled}
      where id = any(
        array(
          select m.id
          from push_mirrors m join projects p on p.id = m.project_id
          where ${isDue(raw('m.next_at'), lease)} and m.enabled and not p.deleting and not p.archived
          order by m.next_at
          limit 100
        )
      )
      returning id, project_id
    `,
  )

export const pendingPushRow = {
  sealed_url: text,
  user_id: nullable(integer),
  only_protected_branches: boolean,
  keep_divergent_refs: boolean,
}
export type PendingPush = RowOf<typeof pendingPushRow>

const mayPush = sql`m.enabled and p.id = m.project_id and not p.deleting and not p.archived`

const pendingColumns = raw('m.sealed_url, m.user_id, m.only_protected_branches, m.keep_divergent_refs')

/** Starts an update. Undefined if the mirror is disabled or gone, or its project is archived or being deleted. */
export const beginPush = (db: Db, id: number): Promise<PendingPush | undefined> =>
  db.row(
    pendingPushRow,
    sql`
      update push_mirrors m
      set update_status = 'started', last_update_started_at = now(), next_at = now() + ${lease}
      from projects p
      where m.id = ${id} and ${mayPush}
      returning ${pendingColumns}
    `,
  )

/** The same of an update that was started. */
export const findPendingPush = (db: Db, id: number): Promise<PendingPush | undefined> =>
  db.row(
    pendingPushRow,
    sql`select ${pendingColumns} from push_mirrors m, projects p where m.id = ${id} and ${mayPush}`,
  )

/** Takes back that an update is scheduled, because it cannot start. That of an enabled mirror stays due, for when its project is no longer archived. */
export const cancelPush = (db: Db, id: number): Promise<number> =>
  db.run(sql`update push_mirrors set ${updateAtRest}, next_at = case when enabled then now() end where id = ${id}`)

/** Failed updates since the last success, of a mirror; locked until the transaction ends. */
export const lockPushFailures = async (tx: Tx, id: number): Promise<number | undefined> =>
  (await tx.row({ failures: integer }, sql`select failures from push_mirrors where id = ${id} for no key update`))
    ?.failures

/** Records the end of an update. */
export const endPush = (tx: Tx, id: number, result: UpdateResult): Promise<number> =>
  tx.run(sql`update push_mirrors set ${updateEnded(result)} where id = ${id}`)

/** Disables the mirrors that a user set up. */
export const disableMirrorsOf = (tx: Tx, userId: number, error: string): Promise<number> =>
  tx.run(sql`
    update push_mirrors
    set user_id = null, enabled = false, next_at = null, update_status = 'failed', last_error = ${error}
    where user_id = ${userId}
  `)
