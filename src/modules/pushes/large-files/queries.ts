import { randomBytes } from 'node:crypto'
import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { literal, type Sql, sql } from '../../../db/sql.ts'
import { countLinkedFiles } from '../../projects/index.ts'

export type LargeFileRow = { oid: Digest; size: number }

/** What of a project decides where its large files are. */
export type StorageRow = {
  /** What the project says, else its namespace. */
  enabled: boolean
  /** The project it was forked from. */
  source_id: number | null
}

export const findStorage = (db: Db, projectId: number): Promise<StorageRow | undefined> =>
  db.row<StorageRow>(sql`
    select coalesce((p.settings->>'lfs_enabled')::boolean, n.lfs_enabled, true) as enabled, p.forked_from_project_id as source_id
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}`)

/** Those of the files that one of the projects has, each once. */
export const filesAmong = (db: Db, projectIds: readonly number[], oids: readonly string[]): Promise<LargeFileRow[]> =>
  db.rows<LargeFileRow>(sql`
    select distinct oid, size from large_files where project_id = any(${projectIds}::bigint[]) and oid = any(${oids}::text[])`)

/** Adds `rows` (project_id, oid, size) to what a project has and to its statistics; those it has count once. */
const link = (projectId: number, rows: Sql): Sql => sql`
  with linked as (insert into large_files (project_id, oid, size) ${rows} on conflict do nothing returning size),
  counted as (${countLinkedFiles(projectId)})
  select 1 from linked`

/** Gives a project a file whose bytes are stored. False when it had it already, or is being removed. */
export const linkFile = async (tx: Tx, projectId: number, { oid, size }: LargeFileRow): Promise<boolean> =>
  (await tx.run(
    link(
      projectId,
      sql`select id, ${oid}::text, ${size}::bigint from projects where id = ${projectId} and not deleting for key share`,
    ),
  )) > 0

/**
 * Gives a project what another has of these files. The other's rows are held until the transaction ends: were they
 * deleted meanwhile, the bytes might be collected before this is committed.
 */
export const linkFrom = (tx: Tx, sourceId: number, projectId: number, oids: readonly string[]): Promise<number> =>
  tx.run(
    link(
      projectId,
      sql`select ${projectId}::bigint, oid, size from large_files where project_id = ${sourceId} and oid = any(${oids}::text[]) order by oid for key share`,
    ),
  )

/** The same for all that the other has, as a fork does when it is made. */
export const linkAllFrom = (tx: Tx, sourceId: number, projectId: number): Promise<number> =>
  tx.run(
    link(
      projectId,
      sql`select ${projectId}::bigint, oid, size from large_files where project_id = ${sourceId} order by oid for key share`,
    ),
  )

/** Digests of these that are large files: for the collection of blobs. */
export const digestsOfLargeFiles = (digests: readonly Digest[]): Sql =>
  sql`select oid from large_files where oid = any(${digests}::text[])`

/** Every file once, with a project that has it, in the order of oids after `after`. */
export const storedFiles = (db: Db, after: string, limit: number): Promise<(LargeFileRow & { project_id: number })[]> =>
  db.rows(sql`
    select distinct on (oid) oid, size, project_id from large_files where oid > ${after} order by oid, project_id limit ${literal(limit)}`)

/** The key for a purpose, the same in every process; made when there is none. */
export async function signingKey(db: Db, purpose: string): Promise<Buffer> {
  const find = () => db.row<{ key: Buffer }>(sql`select key from signing_keys where purpose = ${purpose}`)
  const found = await find()
  if (found) return found.key
  await db.run(
    sql`insert into signing_keys (purpose, key) values (${purpose}, ${randomBytes(32)}) on conflict do nothing`,
  )
  return (await find())!.key
}
