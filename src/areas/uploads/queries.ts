import type { Digest } from '../../blobs/blob-store.ts'
import type { Db, Tx } from '../../db/db.ts'
import { literal, type Sql, sql } from '../../db/sql.ts'

export type UploadRow = { secret: string; filename: string; digest: Digest; size: number }

/** False when the project is going. */
export const insertUpload = async (
  tx: Tx,
  projectId: number,
  uploaderId: number,
  { secret, filename, digest, size }: UploadRow,
): Promise<boolean> =>
  (await tx.run(sql`
    insert into uploads (project_id, secret, filename, digest, size, uploader_id)
    select p.id, ${secret}, ${filename}, ${digest}, ${size}::bigint, ${uploaderId}
    from projects p where p.id = ${projectId} and not p.deleting for no key update`)) > 0

/** By both parts of its address. */
export const findUpload = (
  db: Db,
  projectId: number,
  secret: string,
  filename: string,
): Promise<UploadRow | undefined> =>
  db.row(
    sql`select secret, filename, digest, size from uploads where project_id = ${projectId} and secret = ${secret} and filename = ${filename}`,
  )

/** Digests of these that are uploads: for the collection of blobs. */
export const digestsOfUploads = (digests: readonly Digest[]): Sql =>
  sql`select digest from uploads where digest = any(${digests}::text[])`

/** Every upload in the order of its number, after `after`. */
export const storedUploads = (
  db: Db,
  after: number,
  limit: number,
): Promise<{ id: number; project_id: number; digest: Digest; size: number }[]> =>
  db.rows(sql`select id, project_id, digest, size from uploads where id > ${after} order by id limit ${literal(limit)}`)
