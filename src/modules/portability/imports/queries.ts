import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db, Tx } from '../../../db/db.ts'
import type { Holder } from '../../../db/portable/relation.ts'
import { integer, listOf, notNull, nullable, type RowOf, text, textOf } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'

const columnOf = ({ of }: Holder): Sql => raw(of === 'project' ? 'project_id' : 'namespace_id')

export const archiveImportRow = {
  id: integer,
  user_id: integer,
  digest: nullable(textOf<Digest>()),
  sealed_url: nullable(text),
  chosen: listOf(text),
  replaces_id: nullable(integer),
  attempts: integer,
}
export type ArchiveImportRow = RowOf<typeof archiveImportRow>

export type NewImport = {
  readonly userId: number
  readonly digest: Digest | null
  /** Encrypts the URL of a remote archive for the id of the row. */
  readonly seal?: ((id: number) => string) | undefined
  /** Names of the attributes that the importer chose. */
  readonly chosen: readonly string[]
  readonly replacesId: number | null
}

export async function insertArchiveImport(
  tx: Tx,
  holder: Holder,
  { userId, digest, seal, chosen, replacesId }: NewImport,
): Promise<void> {
  const { id } = (await tx.row(
    { id: integer },
    sql`select nextval(pg_get_serial_sequence('archive_imports', 'id')) as id`,
  ))!
  await tx.run(sql`
    insert into archive_imports (id, ${columnOf(holder)}, user_id, digest, sealed_url, chosen, replaces_id)
    values (${id}, ${holder.id}, ${userId}, ${digest}, ${seal?.(id) ?? null}, ${chosen}, ${replacesId})
  `)
}

export const findArchiveImport = (db: Db, holder: Holder): Promise<ArchiveImportRow | undefined> =>
  db.row(
    archiveImportRow,
    sql`
      select id, user_id, digest, sealed_url, chosen, replaces_id, attempts
      from archive_imports
      where ${columnOf(holder)} = ${holder.id}
    `,
  )

/** The archive came from its URL, and is stored now. */
export const saveDownloaded = (db: Db, holder: Holder, digest: Digest): Promise<number> =>
  db.run(sql`update archive_imports set digest = ${digest} where ${columnOf(holder)} = ${holder.id}`)

/** Counts an attempt; returns how many there were. Undefined if the import is over. */
export const countAttempt = async (db: Db, holder: Holder): Promise<number | undefined> =>
  (
    await db.row(
      { attempts: integer },
      sql`
        update archive_imports set attempts = attempts + 1 where ${columnOf(holder)} = ${holder.id} returning attempts
      `,
    )
  )?.attempts

/** Does not count the attempt that `countAttempt` has counted last. */
export const forgetAttempt = (db: Db, holder: Holder): Promise<number> =>
  db.run(sql`update archive_imports set attempts = attempts - 1 where ${columnOf(holder)} = ${holder.id}`)

/** The importers of groups whose imports began so long ago that they cannot finish, by group, oldest first; at most 1,000. */
export const stuckGroupImports = (db: Db, hours: number): Promise<{ namespace_id: number; user_id: number }[]> =>
  db.rows(
    { namespace_id: notNull(integer), user_id: integer },
    sql`
      select namespace_id, user_id
      from archive_imports
      where namespace_id is not null and created_at <= now() - make_interval(hours => ${hours}::integer)
      order by created_at, id
      limit 1000
    `,
  )

/** Forgets archives of projects whose imports are over. */
export const deleteEndedImports = (db: Db): Promise<number> =>
  db.run(sql`
    delete from archive_imports i using projects p
    where p.id = i.project_id and p.import_status not in ('scheduled', 'started')
  `)

export const deleteArchiveImport = (db: Db, holder: Holder): Promise<number> =>
  db.run(sql`delete from archive_imports where ${columnOf(holder)} = ${holder.id}`)
