import type { Db, Tx } from '../../../db/db.ts'
import { integer, type RowOf, text, timestamp } from '../../../db/row.ts'
import { and, literal, sql } from '../../../db/sql.ts'

export const lockRow = {
  id: integer,
  path: text,
  owner_id: integer,
  owner_name: text,
  created_at: timestamp,
}
export type LockRow = RowOf<typeof lockRow>

const lockSelect = sql`
  select l.id, l.path, l.owner_id, u.name as owner_name, l.created_at
  from file_locks l join users u on u.id = l.owner_id
`

export type LockFilters = { path?: string | undefined; id?: number | undefined }

/** Locks of a project with ids from `from` on, oldest first. */
export const listLocks = (
  db: Db,
  projectId: number,
  { path, id }: LockFilters,
  from: number,
  limit: number,
): Promise<LockRow[]> =>
  db.rows(
    lockRow,
    sql`${lockSelect} where ${and([
      sql`l.project_id = ${projectId}`,
      sql`l.id >= ${from}`,
      ...(path === undefined ? [] : [sql`l.path = ${path}`]),
      ...(id === undefined ? [] : [sql`l.id = ${id}`]),
    ])} order by l.id limit ${literal(limit)}`,
  )

export const findLockAt = (db: Db, projectId: number, path: string): Promise<LockRow | undefined> =>
  db.row(lockRow, sql`${lockSelect} where l.project_id = ${projectId} and l.path = ${path}`)

/** Locks of other users than this one; of all, if it is null. */
const ofOthers = (projectId: number, userId: number | null) =>
  sql`l.project_id = ${projectId} and l.owner_id is distinct from ${userId}::bigint`

export const othersHaveLocks = (db: Db, projectId: number, userId: number | null): Promise<boolean> =>
  db.exists(sql`select from file_locks l where ${ofOthers(projectId, userId)} limit 1`)

/** The oldest lock of another user at one of these paths. */
export const findLockOfOthers = (
  db: Db,
  projectId: number,
  userId: number | null,
  paths: readonly string[],
): Promise<LockRow | undefined> =>
  db.row(
    lockRow,
    sql`${lockSelect} where ${ofOthers(projectId, userId)} and l.path = any(${paths}::text[]) order by l.id limit 1`,
  )

/** Finds a lock and locks its row until the transaction ends, so that it is removed once. */
export const holdLock = (tx: Tx, projectId: number, id: number): Promise<LockRow | undefined> =>
  tx.row(lockRow, sql`${lockSelect} where l.project_id = ${projectId} and l.id = ${id} for update of l`)

/** False if the path is locked already. */
export const insertLock = async (
  tx: Tx,
  lock: { projectId: number; path: string; ownerId: number },
): Promise<boolean> =>
  (await tx.run(
    sql`
      insert into file_locks (project_id, path, owner_id)
      values (${lock.projectId}, ${lock.path}, ${lock.ownerId})
      on conflict do nothing
    `,
  )) > 0

export const deleteLock = (tx: Tx, id: number): Promise<number> => tx.run(sql`delete from file_locks where id = ${id}`)
