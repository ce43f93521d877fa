import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, listOf, nullable, type RowOf, text, textOf } from '../../../db/row.ts'
import { literal, sql } from '../../../db/sql.ts'

/** A blob that a client is uploading: row of the table `container_uploads`. */
const uploadRow = {
  id: text,
  repository_id: integer,
  /** Bytes that are stored. */
  received: integer,
  /** Requests that brought them. */
  parts: integer,
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

export const insertUpload = async (tx: Tx, repositoryId: number, shareKey: string): Promise<Upload> =>
  (await tx.row(
    uploadRow,
    sql`
      insert into container_uploads (repository_id, share_key)
      values (${repositoryId}, ${shareKey})
      returning id, repository_id, received, 0 as parts
    `,
  ))!

/** An upload to the repository with this name. */
export const findUploadOf = (db: Db, projectId: number, name: string, id: string): Promise<Upload | undefined> =>
  db.row(
    uploadRow,
    sql`
      select u.id, u.repository_id, u.received,
        (select count(*) from container_upload_parts p where p.upload_id = u.id) as parts
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

/** How much unfinished uploads may be together: their number, and their bytes. */
export type Room = { readonly uploads: number; readonly bytes: number }

/**
 * Ends uploads of a caller, and of the project of an upload of theirs, that are more than the room for each; those that have gone on last
 * stay, and this one does. Returns the files of those that it ended. Skips what concurrent requests extend. The arrays are computed once;
 * what `in` compares is computed for each upload when the plan was made for a few.
 */
export async function endCrowdedOut(
  tx: Tx,
  upload: Pick<Upload, 'id' | 'repository_id'>,
  shareKey: string,
  { ofCaller, ofProject }: { readonly ofCaller: Room; readonly ofProject: Room },
): Promise<string[]> {
  const rows = await tx.rows(
    { file: nullable(text) },
    sql`
      with own as (
        select id, row_number() over recent as place, sum(received) over recent as bytes
        from container_uploads
        where share_key = ${shareKey}
        window recent as (order by updated_at desc, id)
      ),
      beside as (
        select u.id, row_number() over recent as place, sum(u.received) over recent as bytes
        from container_uploads u join container_repositories r on r.id = u.repository_id
        where r.project_id = (select project_id from container_repositories where id = ${upload.repository_id})
        window recent as (order by u.updated_at desc, u.id)
      ),
      ended as (
        delete from container_uploads
        where id = any(
          array(
            select u.id
            from container_uploads u
            where u.id <> ${upload.id}::uuid
              and u.id = any(
                array(
                  select id
                  from own
                  where place > ${ofCaller.uploads} or bytes > ${ofCaller.bytes}::bigint
                  union all
                  select id
                  from beside
                  where place > ${ofProject.uploads} or bytes > ${ofProject.bytes}::bigint
                )
              )
            for update skip locked
          )
        )
        returning id
      )
      select p.file::text as file
      from ended left join container_upload_parts p on p.upload_id = ended.id
    `,
  )
  return rows.flatMap(({ file }) => file ?? [])
}

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
