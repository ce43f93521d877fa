import type { List } from '../../../api/list.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, nullable, type RowOf, text, textOf, timestamp } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'

export const uploadRow = {
  secret: text,
  filename: text,
  digest: textOf<Digest>(),
  size: integer,
}
export type UploadRow = RowOf<typeof uploadRow>

/** False if the project is being deleted. */
export const insertUpload = async (
  tx: Tx,
  projectId: number,
  uploaderId: number,
  { secret, filename, digest, size }: UploadRow,
): Promise<boolean> =>
  (await tx.run(sql`
    insert into uploads (project_id, secret, filename, digest, size, uploader_id)
    select p.id, ${secret}, ${filename}, ${digest}, ${size}::bigint, ${uploaderId}
    from projects p
    where p.id = ${projectId} and not p.deleting
    for no key update
  `)) > 0

/** An upload as shown to maintainers. */
export const listedUploadRow = {
  id: integer,
  filename: text,
  size: integer,
  created_at: timestamp,
  /** Null if the account is gone. */
  uploader: nullable(json<{ id: number; username: string; name: string }>()),
}
export type ListedUploadRow = RowOf<typeof listedUploadRow>

/** Newest first. */
export const uploadsOf = (projectId: number): List => ({
  type: 'Upload',
  select: raw(`select p.id, p.filename, p.size, p.created_at,
    case when u.id is not null then json_build_object('id', u.id, 'username', u.username, 'name', u.name) end as uploader
    from uploads p left join users u on u.id = p.uploader_id`),
  from: raw('from uploads p'),
  where: [sql`p.project_id = ${projectId}`],
  order: [{ by: raw('p.id'), direction: 'desc' }],
  keyset: { direction: 'desc' },
})

/** An upload in a path: by id, or by the secret and file name of its URL. */
export type UploadName = { readonly id: number } | { readonly secret: string; readonly filename: string }

const named = (projectId: number, name: UploadName): Sql =>
  'id' in name
    ? sql`project_id = ${projectId} and id = ${name.id}`
    : sql`project_id = ${projectId} and secret = ${name.secret} and filename = ${name.filename}`

export const findUpload = (db: Db, projectId: number, name: UploadName): Promise<UploadRow | undefined> =>
  db.row(uploadRow, sql`select secret, filename, digest, size from uploads where ${named(projectId, name)}`)

/** Deletes the row only; blob collection deletes the bytes if no other row references them. */
export const deleteUpload = (
  tx: Tx,
  projectId: number,
  name: UploadName,
): Promise<{ id: number; filename: string } | undefined> =>
  tx.row(
    { id: integer, filename: text },
    sql`delete from uploads where ${named(projectId, name)} returning id, filename`,
  )

/** The given digests that belong to uploads, for blob collection. */
export const digestsOfUploads = (digests: readonly Digest[]): Sql =>
  sql`select digest from uploads where digest = any(${digests}::text[])`

/** Every upload ordered by id, starting after `after`. */
export const storedUploads = (
  db: Db,
  after: number,
  limit: number,
): Promise<{ id: number; project_id: number; digest: Digest; size: number }[]> =>
  db.rows(
    { id: integer, project_id: integer, digest: textOf<Digest>(), size: integer },
    sql`select id, project_id, digest, size from uploads where id > ${after} order by id limit ${literal(limit)}`,
  )
