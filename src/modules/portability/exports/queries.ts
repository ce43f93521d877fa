import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db, Tx } from '../../../db/db.ts'
import type { Holder } from '../../../db/portable/relation.ts'
import { integer, nullable, oneOf, type RowOf, text, textOf, timestamp } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'

const columnOf = ({ of }: Holder): Sql => raw(of === 'project' ? 'project_id' : 'namespace_id')

const isOf = (holder: Holder): Sql => sql`${columnOf(holder)} = ${holder.id}`

/** Status of the exports of a project. */
export const exportStateRow = {
  id: integer,
  description: nullable(text),
  name: text,
  name_with_namespace: text,
  path: text,
  path_with_namespace: text,
  created_at: timestamp,
  export_status: oneOf('none', 'started', 'after_export_action', 'finished'),
}
export type ExportStateRow = RowOf<typeof exportStateRow>

/** Archives that a caller gets: those of administrators have what only they may see. */
const openTo = (isAdministrator: boolean): Sql => (isAdministrator ? raw('true') : raw('not for_administrators'))

/** The project exists. */
export const findExportState = async (
  db: Db,
  projectId: number,
  { isAdministrator }: { readonly isAdministrator: boolean },
): Promise<ExportStateRow> =>
  (await db.row(
    exportStateRow,
    sql`
      select p.id, p.description, p.name, n.full_name || ' / ' || p.name as name_with_namespace, p.path,
        p.full_path as path_with_namespace, p.created_at,
        case
          when exists (
            select from export_requests r where r.project_id = p.id and r.state <> 'following'
          ) then 'started'
          when exists (select from export_requests r where r.project_id = p.id) then 'after_export_action'
          when exists (
            select from finished_exports e where e.project_id = p.id and ${openTo(isAdministrator)}
          ) then 'finished'
          else 'none'
        end as export_status
      from projects p join namespaces n on n.id = p.namespace_id
      where p.id = ${projectId}
    `,
  ))!

export type NewExport = {
  readonly userId: number
  readonly description: string | null
}

/** Adds a request; returns its id. */
export const insertRequest = async (tx: Tx, holder: Holder, { userId, description }: NewExport): Promise<number> =>
  (await tx.row(
    { id: integer },
    sql`
      insert into export_requests (${columnOf(holder)}, user_id, description)
      values (${holder.id}, ${userId}, ${description})
      returning id
    `,
  ))!.id

export const saveUpload = (tx: Tx, id: number, sealedUrl: string, method: 'PUT' | 'POST'): Promise<number> =>
  tx.run(sql`update export_requests set sealed_url = ${sealedUrl}, upload_method = ${method} where id = ${id}`)

export const requestRow = {
  id: integer,
  project_id: nullable(integer),
  namespace_id: nullable(integer),
  user_id: integer,
  description: nullable(text),
  sealed_url: nullable(text),
  upload_method: nullable(oneOf('PUT', 'POST')),
  state: oneOf('waiting', 'running', 'following'),
  attempts: integer,
  /** The archive to upload; null until it is finished, and when it has expired. */
  finished_id: nullable(integer),
}
export type RequestRow = RowOf<typeof requestRow>

const columns = raw(
  'id, project_id, namespace_id, user_id, description, sealed_url, upload_method, state, attempts, finished_id',
)

/** Undefined if it is over. */
export const findRequest = (db: Db, id: number): Promise<RequestRow | undefined> =>
  db.row(requestRow, sql`select ${columns} from export_requests where id = ${id}`)

/** Begins a request, or begins it again after an interruption. Undefined if it is over. */
export const beginRequest = (db: Db, id: number): Promise<RequestRow | undefined> =>
  db.row(
    requestRow,
    sql`
      update export_requests
      set state = case state when 'waiting' then 'running' else state end, attempts = attempts + 1
      where id = ${id}
      returning ${columns}
    `,
  )

/** Does not count the attempt that `beginRequest` has counted last. */
export const forgetAttempt = (db: Db, id: number): Promise<number> =>
  db.run(sql`update export_requests set attempts = attempts - 1 where id = ${id}`)

/** False if it is over. */
export const lockRequest = (tx: Tx, id: number): Promise<boolean> =>
  tx.exists(sql`select from export_requests where id = ${id} for no key update`)

export const endRequest = async (tx: Db, id: number): Promise<boolean> =>
  (await tx.run(sql`delete from export_requests where id = ${id}`)) > 0

/** The archive is finished, and is uploaded next. */
export const followRequest = (tx: Tx, id: number, finishedId: number): Promise<number> =>
  tx.run(sql`update export_requests set state = 'following', finished_id = ${finishedId} where id = ${id}`)

export const finishedRow = { id: integer, digest: textOf<Digest>(), size: integer, filename: text }
export type FinishedRow = RowOf<typeof finishedRow>

export type NewFinished = {
  readonly digest: Digest
  readonly size: number
  readonly filename: string
  readonly forAdministrators: boolean
}

/**
 * Saves an archive of a project or group, for administrators or for others. It replaces earlier ones, except those that are being uploaded.
 * Returns its id.
 */
export const saveFinished = async (
  tx: Tx,
  holder: Holder,
  { digest, size, filename, forAdministrators }: NewFinished,
): Promise<number> => {
  await tx.run(sql`
    delete from finished_exports e
    where ${isOf(holder)}
      and for_administrators = ${forAdministrators}
      and not exists (select from export_requests r where r.finished_id = e.id)
  `)
  const made = await tx.row(
    { id: integer },
    sql`
      insert into finished_exports (${columnOf(holder)}, digest, size, filename, for_administrators)
      values (${holder.id}, ${digest}, ${size}, ${filename}, ${forAdministrators})
      returning id
    `,
  )
  return made!.id
}

/** The newest archive of a project or group that the caller gets. */
export const findFinished = (
  db: Db,
  holder: Holder,
  { isAdministrator }: { readonly isAdministrator: boolean },
): Promise<FinishedRow | undefined> =>
  db.row(
    finishedRow,
    sql`
      select id, digest, size, filename
      from finished_exports
      where ${isOf(holder)} and ${openTo(isAdministrator)}
      order by id desc
      limit 1
    `,
  )

export const findFinishedById = (db: Db, id: number): Promise<FinishedRow | undefined> =>
  db.row(finishedRow, sql`select id, digest, size, filename from finished_exports where id = ${id}`)

export const deleteFinished = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from finished_exports where id = ${id}`)

/** Deletes the archives that are older; a time in the future was set before the clock was put back. */
export const deleteOldFinished = (db: Db, hours: number, limit: number): Promise<number> =>
  db.run(sql`
    delete from finished_exports
    where id = any(
      array(
        select id
        from finished_exports
        where created_at not between now() - make_interval(
          hours => ${hours}::integer
        ) and now() + interval '1 minute'
        order by id
        limit ${literal(limit)}
      )
    )
  `)

/** Exports that wait or run for longer, which no job will end; at most 1,000. */
export const oldRequests = (db: Db, hours: number): Promise<RequestRow[]> =>
  db.rows(
    requestRow,
    sql`
      select ${columns}
      from export_requests
      where created_at < now() - make_interval(hours => ${hours}::integer)
      order by id
      limit 1000
    `,
  )
