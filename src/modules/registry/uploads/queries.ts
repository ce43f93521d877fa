import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, listOf, type RowOf, text, textOf } from '../../../db/row.ts'
import { literal, sql } from '../../../db/sql.ts'

/** A blob that a client is uploading: row of the table `container_uploads`. */
const uploadRow = {
  id: text,
  repository_id: integer,
  /** Bytes that are stored. */
  received: integer,
}
export type Upload = RowOf<typeof uploadRow>

export const partRow = {
  start: integer,
  size: integer,
  /** Name of its file. */
  file: text,
  digest: textOf<Digest>(),
}
export type Part = RowOf<typeof partRow>

export const insertUpload = async (tx: Tx, repositoryId: number): Promise<Upload> =>
  (await tx.row(
    uploadRow,
    sql`insert into container_uploads (repository_id) values (${repositoryId}) returning id, repository_id, received`,
  ))!

/** An upload to the repository with this name. */
export const findUploadOf = (db: Db, projectId: number, name: string, id: string): Promise<Upload | undefined> =>
  db.row(
    uploadRow,
    sql`
      select u.id, u.repository_id, u.received
      from container_uploads u join container_repositories r on r.id = u.repository_id
      where u.id = ${id}::uuid and r.project_id = ${projectId} and r.name = ${name} and r.deleted_at is null
    `,
  )

/** Adds a part at its start. False if the upload has ended, or another request has added bytes there. */
export async function addPart(tx: Tx, id: string, { start, size, file, digest }: Part): Promise<boolean> {
  const extended = await tx.run(
    sql`
      update container_uploads
      set received = received + ${size}, updated_at = now()
      where id = ${id}::uuid and received = ${start}
    `,
  )
  if (extended === 0) return false
  await tx.run(
    sql`
      insert into container_upload_parts (upload_id, start, size, file, digest)
      values (${id}::uuid, ${start}, ${size}, ${file}::uuid, ${digest})
    `,
  )
  return true
}

export const partsOf = (db: Db, id: string): Promise<Part[]> =>
  db.rows(
    partRow,
    sql`select start, size, file, digest from container_upload_parts where upload_id = ${id}::uuid order by start`,
  )

/** False if it has ended. */
export const deleteUpload = async (db: Db, id: string): Promise<boolean> =>
  (await db.run(sql`delete from container_uploads where id = ${id}::uuid`)) > 0

/** Ends uploads without progress. Returns their number, at most `limit`. */
export const deleteIdleUploads = (db: Db, hours: number, limit: number): Promise<number> =>
  db.run(sql`
    delete from container_uploads
    where id = any(
      array(
        select id
        from container_uploads
        where updated_at < now() - make_interval(hours => ${hours}::int)
        limit ${literal(limit)}
        for update skip locked
      )
    )
  `)

/** Those of the files that belong to no upload. */
export async function filesWithoutUpload(db: Db, files: readonly string[]): Promise<string[]> {
  const row = await db.row(
    { files: listOf(text) },
    sql`
      select array(
        select name::text
        from unnest(${files}::uuid[]) as stored (name)
        where not exists (select from container_upload_parts p where p.file = stored.name)
      ) as files
    `,
  )
  return row?.files ?? []
}
