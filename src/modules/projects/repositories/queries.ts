import type { Db, Tx } from '../../../db/db.ts'
import { integer, nullable, pick, type RowOf, text } from '../../../db/row.ts'
import { literal, type Sql, sql } from '../../../db/sql.ts'

export const storedRepositoryRow = {
  id: integer,
  full_path: text,
  repository_storage: text,
  repository_key: text,
  default_branch: nullable(text),
}
export type StoredRepository = RowOf<typeof storedRepositoryRow>

/** Projects with an id above `after`, in order, without those that are being deleted. */
export const projectsAfter = (db: Db, after: number, limit: number): Promise<StoredRepository[]> =>
  db.rows(
    storedRepositoryRow,
    sql`
      select id, full_path, repository_storage, repository_key, default_branch
      from projects
      where id > ${after} and not deleting
      order by id
      limit ${literal(limit)}
    `,
  )

/** Projects that are being deleted, whose repositories may still exist. */
export const removedProjects = (db: Db): Promise<Pick<StoredRepository, 'id' | 'repository_storage'>[]> =>
  db.rows(
    pick(storedRepositoryRow, 'id', 'repository_storage'),
    sql`select id, repository_storage from projects where deleting`,
  )

/** False of a project that is being deleted. */
export const isProjectThere = (db: Db, id: number): Promise<boolean> =>
  db.exists(sql`select from projects where id = ${id} and not deleting`)

/** Locks the place of a repository until the transaction ends: only one process moves what is there. */
export const lockDirectory = (tx: Tx, dir: string): Promise<number> =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`place of a repository: ${dir}`}, 0))`)

/** From the least to the most thorough. */
export type Housekeeping = 'incremental' | 'full' | 'gc'

/** Number of pushes, in total and at the last run of each kind of housekeeping. */
export const housekeepingRow = {
  pushes: integer,
  incremental_at: integer,
  full_at: integer,
  gc_at: integer,
}
export type HousekeepingRow = RowOf<typeof housekeepingRow>

export const findHousekeeping = (db: Db, projectId: number): Promise<HousekeepingRow | undefined> =>
  db.row(
    housekeepingRow,
    sql`select pushes, incremental_at, full_at, gc_at from project_housekeeping where project_id = ${projectId}`,
  )

/** Assignments that record a run that covered the first `pushes`; a thorough kind includes the lesser kinds. */
export const housekeepingDone = (kind: Housekeeping, pushes: number): Sql => sql`
  incremental_at = ${pushes}, full_at = case when ${kind} = 'incremental' then full_at else ${pushes} end,
  gc_at = case when ${kind} = 'gc' then ${pushes} else gc_at end
`

/** Records a run that covered the first `pushes`. */
export const saveHousekeeping = (db: Db, projectId: number, kind: Housekeeping, pushes: number): Promise<number> =>
  db.run(sql`update project_housekeeping set ${housekeepingDone(kind, pushes)} where project_id = ${projectId}`)

/** Saves the result of a check, for lists of broken repositories. */
export const saveCheck = (db: Db, projectId: number, failed: boolean): Promise<number> =>
  db.run(
    sql`
      update projects
      set repository_check_failed = ${failed}
      where id = ${projectId} and repository_check_failed <> ${failed}
    `,
  )

/** The same for the wiki of a project. */
export const saveWikiCheck = (db: Db, projectId: number, failed: boolean): Promise<number> =>
  db.run(sql`
    update projects set wiki_check_failed = ${failed} where id = ${projectId} and wiki_check_failed <> ${failed}
  `)
