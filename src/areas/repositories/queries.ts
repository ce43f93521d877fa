import type { Db } from '../../db/db.ts'
import { literal, sql } from '../../db/sql.ts'

export type StoredRepository = {
  id: number
  full_path: string
  repository_storage: string
  default_branch: string | null
}

/** Projects with an id above `after`, in order. Those being removed are left out. */
export const projectsAfter = (db: Db, after: number, limit: number): Promise<StoredRepository[]> =>
  db.rows<StoredRepository>(sql`select id, full_path, repository_storage, default_branch from projects
    where id > ${after} and not deleting order by id limit ${literal(limit)}`)

/** Remembers what a check found, for lists of broken repositories. */
export const saveCheck = (db: Db, projectId: number, failed: boolean): Promise<number> =>
  db.run(
    sql`update projects set repository_check_failed = ${failed} where id = ${projectId} and repository_check_failed <> ${failed}`,
  )
