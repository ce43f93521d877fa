import type { Db, Tx } from '../../../db/db.ts'
import { integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { importFailed, importFinished, importScheduled, importStarted } from '../../projects/index.ts'

/** A pending import: row of the table `project_imports`. */
export const importRow = {
  actor_id: nullable(integer),
  sealed_url: nullable(text),
  attempts: integer,
  /** Key of the project's repository. */
  repository_key: text,
}
export type ImportRow = RowOf<typeof importRow>

/**
 * Records that a new project waits for its repository; returns its storage. `sealedUrl` is encrypted, because it may
 * contain credentials.
 */
export const scheduleImport = async (
  tx: Tx,
  projectId: number,
  { actorId, sealedUrl = null }: { actorId: number; sealedUrl?: string | null },
): Promise<string> =>
  (await tx.row(
    { repository_storage: text },
    sql`
      with wished as (
        insert into project_imports (project_id, actor_id, sealed_url)
        values (${projectId}, ${actorId}, ${sealedUrl})
      ) ${importScheduled(projectId)}
    `,
  ))!.repository_storage

/** The source of an import that waits or runs, and the user who started it. */
export const findImport = (
  db: Db,
  projectId: number,
): Promise<Pick<ImportRow, 'actor_id' | 'sealed_url'> | undefined> =>
  db.row(
    { actor_id: importRow.actor_id, sealed_url: importRow.sealed_url },
    sql`select actor_id, sealed_url from project_imports where project_id = ${projectId}`,
  )

/** Starts an import, or restarts an interrupted one. Undefined if it has ended or the project is gone. */
export const beginImport = (db: Db, projectId: number): Promise<ImportRow | undefined> =>
  db.row(
    importRow,
    sql`
      with begun as (${importStarted(projectId)})
      update project_imports i
      set attempts = attempts + 1
      from begun
      where i.project_id = begun.id
      returning i.actor_id, i.sealed_url, i.attempts, begun.repository_key
    `,
  )

/** Does not count the attempt that `beginImport` has counted last. */
export const forgetAttempt = (db: Db, projectId: number): Promise<number> =>
  db.run(sql`update project_imports set attempts = attempts - 1 where project_id = ${projectId}`)

/** Marks an import as finished: the repository is in place. False if it ended otherwise in the meantime. */
export const finishImport = async (tx: Tx, projectId: number, defaultBranch: string | null): Promise<boolean> =>
  (await tx.run(sql`
    with ended as (
      delete from project_imports where project_id = ${projectId} returning project_id
    ) ${importFinished(raw('select project_id from ended'), defaultBranch)}
  `)) > 0

/** Marks an import as failed. False if it had ended before. */
export const failImport = async (tx: Tx, projectId: number, error: string): Promise<boolean> =>
  (await tx.run(sql`
    with ended as (
      delete from project_imports where project_id = ${projectId} returning project_id
    ) ${importFailed(raw('select project_id from ended'), error)}
  `)) > 0

/** Imports scheduled so long ago that they cannot finish, oldest first, at most 1,000. */
export async function stuckImports(db: Db, hours: number): Promise<number[]> {
  const rows = await db.rows(
    { project_id: integer },
    sql`
      select project_id
      from project_imports
      where scheduled_at <= now() - make_interval(hours => ${hours}::integer)
      order by scheduled_at
      limit 1000
    `,
  )
  return rows.map(({ project_id }) => project_id)
}
