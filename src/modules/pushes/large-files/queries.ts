import { randomBytes } from 'node:crypto'
import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, bytes, integer, nullable, type RowOf, textOf } from '../../../db/row.ts'
import { literal, type Sql, sql } from '../../../db/sql.ts'
import { countLinkedFiles } from '../../projects/index.ts'

export const largeFileRow = {
  oid: textOf<Digest>(),
  size: integer,
}
export type LargeFileRow = RowOf<typeof largeFileRow>

/** The columns that determine where large files of a project are stored. */
export const storageRow = {
  /** The setting of the project, else of its namespace. */
  enabled: boolean,
  /** The project it was forked from. */
  source_id: nullable(integer),
}
export type StorageRow = RowOf<typeof storageRow>

export const findStorage = (db: Db, projectId: number): Promise<StorageRow | undefined> =>
  db.row(
    storageRow,
    sql`
      select coalesce((p.settings ->> 'lfs_enabled')::boolean, n.lfs_enabled, true) as enabled,
        p.forked_from_project_id as source_id
      from projects p join namespaces n on n.id = p.namespace_id
      where p.id = ${projectId}
    `,
  )

/** The given files that at least one of the projects has, without duplicates. */
export const filesAmong = (db: Db, projectIds: readonly number[], oids: readonly string[]): Promise<LargeFileRow[]> =>
  db.rows(
    largeFileRow,
    sql`
      select distinct oid, size
      from large_files
      where project_id = any(${projectIds}::bigint[]) and oid = any(${oids}::text[])
    `,
  )

/**
 * Adds `rows` (project_id, oid, size) to a project and to its statistics; rows that it has already are not counted
 * again.
 */
const link = (projectId: number, rows: Sql): Sql => sql`
  with linked as (insert into large_files (project_id, oid, size) ${rows} on conflict do nothing returning oid, size),
  counted as (${countLinkedFiles(projectId)})
  select oid, size
  from linked
  order by oid
`

/**
 * Adds files, whose bytes are stored, to a project. Returns those that it did not have; none if it is being deleted. In order, so that
 * concurrent transactions do not wait for each other.
 */
export const linkFiles = (tx: Tx, projectId: number, files: readonly LargeFileRow[]): Promise<LargeFileRow[]> =>
  tx.rows(
    largeFileRow,
    link(
      projectId,
      sql`
        select p.id, f.oid, f.size
        from projects p,
          unnest(${files.map(({ oid }) => oid)}::text[], ${files.map(({ size }) => size)}::bigint[]) as f (oid, size)
        where p.id = ${projectId} and not p.deleting
        order by f.oid
        for key share of p
      `,
    ),
  )

/**
 * Adds those of the given files that the source project has. Locks the rows of the source until the transaction ends;
 * otherwise a concurrent deletion could make blob collection remove the bytes before this commits.
 */
export const linkFrom = (tx: Tx, sourceId: number, projectId: number, oids: readonly string[]): Promise<number> =>
  tx.run(
    link(
      projectId,
      sql`
        select ${projectId}::bigint, oid, size
        from large_files
        where project_id = ${sourceId} and oid = any(${oids}::text[])
        order by oid
        for key share
      `,
    ),
  )

/** As `linkFrom`, for all files of the source: used when a fork is created. */
export const linkAllFrom = (tx: Tx, sourceId: number, projectId: number): Promise<number> =>
  tx.run(
    link(
      projectId,
      sql`
        select ${projectId}::bigint, oid, size
        from large_files
        where project_id = ${sourceId}
        order by oid
        for key share
      `,
    ),
  )

/** Bytes of a project's repository and large files, as of the last count. */
export const storedBytes = async (db: Db, projectId: number): Promise<number> =>
  (
    await db.row(
      { bytes: integer },
      sql`select repository_size + lfs_objects_size as bytes from project_statistics where project_id = ${projectId}`,
    )
  )?.bytes ?? 0

/** The given digests that belong to large files, for blob collection. */
export const digestsOfLargeFiles = (digests: readonly Digest[]): Sql =>
  sql`select oid from large_files where oid = any(${digests}::text[])`

/** Every file once, with a project that has it, ordered by oid, starting after `after`. */
export const storedFiles = (db: Db, after: string, limit: number): Promise<(LargeFileRow & { project_id: number })[]> =>
  db.rows(
    { ...largeFileRow, ...{ project_id: integer } },
    sql`
      select distinct on (oid) oid, size, project_id
      from large_files
      where oid > ${after}
      order by oid, project_id
      limit ${literal(limit)}
    `,
  )

/** The signing key of a purpose, the same in all processes; created on first use. */
export async function signingKey(db: Db, purpose: string): Promise<Buffer> {
  const find = () => db.row({ key: bytes }, sql`select key from signing_keys where purpose = ${purpose}`)
  const found = await find()
  if (found) return found.key
  await db.run(
    sql`insert into signing_keys (purpose, key) values (${purpose}, ${randomBytes(32)}) on conflict do nothing`,
  )
  return (await find())!.key
}

/** Deletes the signing keys: every credential that they signed becomes invalid. Returns their number. */
export const deleteSigningKeys = (tx: Tx): Promise<number> => tx.run(sql`delete from signing_keys`)
