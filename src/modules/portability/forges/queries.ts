import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, oneOf, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { type ForgeKind, forgeKinds } from './kinds.ts'

export const forgeImportRow = {
  user_id: integer,
  forge: oneOf<ForgeKind>(...forgeKinds),
  forge_url: text,
  repository: text,
  sealed_token: text,
  single_endpoint_notes: boolean,
  optimistic: boolean,
  fruitless: integer,
}
export type ForgeImportRow = RowOf<typeof forgeImportRow>

export const insertForgeImport = (tx: Tx, projectId: number, row: Omit<ForgeImportRow, 'fruitless'>): Promise<number> =>
  tx.run(sql`
    insert into forge_imports (
      project_id, user_id, forge, forge_url, repository, sealed_token, single_endpoint_notes, optimistic
    )
    values (
      ${projectId}, ${row.user_id}, ${row.forge}, ${row.forge_url}, ${row.repository}, ${row.sealed_token},
      ${row.single_endpoint_notes}, ${row.optimistic}
    )
  `)

export const findForgeImport = (db: Db, projectId: number): Promise<ForgeImportRow | undefined> =>
  db.row(
    forgeImportRow,
    sql`
      select user_id, forge, forge_url, repository, sealed_token, single_endpoint_notes, optimistic, fruitless
      from forge_imports
      where project_id = ${projectId}
    `,
  )

/** Counts a run until it has read a page. */
export const countRun = (db: Db, projectId: number): Promise<number> =>
  db.run(sql`update forge_imports set fruitless = fruitless + 1 where project_id = ${projectId}`)

/** A page was read. False if the import is over. */
export const recordProgress = async (db: Db, projectId: number): Promise<boolean> =>
  (await db.run(sql`update forge_imports set fruitless = 0 where project_id = ${projectId}`)) > 0

/** Ends an import, and forgets its token. */
export const deleteForgeImport = (db: Db, projectId: number): Promise<number> =>
  db.run(sql`delete from forge_imports where project_id = ${projectId}`)

/** Which of these projects have an import that is not over. */
export const importsAmong = async (db: Db, projectIds: readonly number[]): Promise<Set<number>> => {
  const rows = await db.rows(
    { project_id: integer },
    sql`select project_id from forge_imports where project_id = any(${projectIds}::bigint[])`,
  )
  return new Set(rows.map(({ project_id }) => project_id))
}

/** Projects whose imports are not over, oldest first, at most 1,000. */
export const pendingImports = async (db: Db): Promise<number[]> => {
  const rows = await db.rows(
    { project_id: integer },
    sql`select project_id from forge_imports order by created_at, project_id limit 1000`,
  )
  return rows.map(({ project_id }) => project_id)
}
