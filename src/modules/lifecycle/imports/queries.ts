import type { Db, Tx } from '../../../db/db.ts'
import { raw, sql } from '../../../db/sql.ts'
import { importFailed, importFinished, importScheduled, importStarted } from '../../projects/index.ts'

/** A repository that is to be filled: see the table `project_imports`. */
export type ImportRow = {
  actor_id: number | null
  sealed_url: string | null
  attempts: number
  /** Of the project. */
  repository_key: string
}

/** Writes down that a new project waits for its repository; returns the storage of that. `sealedUrl` may hold credentials. */
export const scheduleImport = async (
  tx: Tx,
  projectId: number,
  { actorId, sealedUrl = null }: { actorId: number; sealedUrl?: string | null },
): Promise<string> =>
  (await tx.row<{ repository_storage: string }>(sql`
    with wished as (insert into project_imports (project_id, actor_id, sealed_url) values (${projectId}, ${actorId}, ${sealedUrl}))
    ${importScheduled(projectId)}`))!.repository_storage

/** Begins, or begins anew after something was cut off. Undefined when it is over, or the project is gone. */
export const beginImport = (db: Db, projectId: number): Promise<ImportRow | undefined> =>
  db.row<ImportRow>(sql`
    with begun as (${importStarted(projectId)})
    update project_imports i set attempts = attempts + 1 from begun where i.project_id = begun.id
    returning i.actor_id, i.sealed_url, i.attempts, begun.repository_key`)

/** Ends it well: the repository is in its place. False when it was ended otherwise meanwhile. */
export const finishImport = async (tx: Tx, projectId: number, defaultBranch: string | null): Promise<boolean> =>
  (await tx.run(sql`
    with ended as (delete from project_imports where project_id = ${projectId} returning project_id)
    ${importFinished(raw('select project_id from ended'), defaultBranch)}`)) > 0

/** Ends it without a repository. False when it had ended before. */
export const failImport = async (tx: Tx, projectId: number, error: string): Promise<boolean> =>
  (await tx.run(sql`
    with ended as (delete from project_imports where project_id = ${projectId} returning project_id)
    ${importFailed(raw('select project_id from ended'), error)}`)) > 0

/** Those that were wished for so long ago that nothing can come of them, oldest first, at most a thousand. */
export async function stuckImports(db: Db, hours: number): Promise<number[]> {
  const rows = await db.rows<{ project_id: number }>(sql`
    select project_id from project_imports where scheduled_at <= now() - make_interval(hours => ${hours}::integer)
    order by scheduled_at limit 1000`)
  return rows.map(({ project_id }) => project_id)
}
