import type { Db, Tx } from '../db/db.ts'
import { boolean, integer, notNull, nullable, type RowOf, text, textOf, timestamp } from '../db/row.ts'
import { literal, sql } from '../db/sql.ts'
import { violatedUnique } from '../db/violations.ts'
import type { Digest, StoredBlob } from './blob-store.ts'

const locationRow = {
  ...{ url: text, moving_to: nullable(text), moved_from: nullable(text) },
  /** Whether a move has ended less than a day ago. */
  just_moved: boolean,
}
/** URLs of the stores. */
export type Location = Readonly<RowOf<typeof locationRow>>

export const findLocation = (db: Db): Promise<Location | undefined> =>
  db.row(
    locationRow,
    sql`
      select url, moving_to, moved_from, coalesce(moved_at > now() - interval '1 day', false) as just_moved
      from blob_location
    `,
  )

/** False in a database that an earlier version has migrated. */
export const recordsLocation = (db: Db): Promise<boolean> =>
  db.exists(sql`select where to_regclass('blob_location') is not null`)

/** Waits for concurrent changes, until the transaction ends. */
export async function lockLocation(tx: Tx): Promise<Location | undefined> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtext('location of blobs'))`)
  return findLocation(tx)
}

/** Takes effect in every process within a second. `moved_from` is set when a move ends. */
export async function saveLocation(
  tx: Tx,
  { url, moving_to, moved_from }: Omit<Location, 'just_moved'>,
): Promise<void> {
  await tx.run(sql`
    insert into blob_location as l (url, moving_to, moved_from, moved_at)
    values (${url}, ${moving_to}, ${moved_from}, case when ${moved_from}::text is not null then now() end)
    on conflict (only_row) do update
      set url = excluded.url, moving_to = excluded.moving_to, moved_from = excluded.moved_from,
        moved_at = case when excluded.moved_from is distinct from l.moved_from then now() else l.moved_at end
  `)
}

/** Records an object before the first of its bytes is sent. */
export const beginObject = (db: Db, store: string, key: string): Promise<number> =>
  db.run(sql`insert into blob_objects (key, store, state) values (${key}, ${store}, 'uploading')`)

/** Shows that an upload goes on. False if tidying has claimed it. */
export const renewObject = async (db: Db, key: string): Promise<boolean> =>
  (await db.run(
    sql`update blob_objects set changed_at = clock_timestamp() where key = ${key} and state = 'uploading'`,
  )) > 0

/** Renews the age of a stored blob. Its key; undefined if it is not stored. */
export const refreshObject = async (db: Db, store: string, digest: Digest): Promise<string | undefined> =>
  (
    await db.row(
      { key: text },
      sql`
        update blob_objects
        set changed_at = clock_timestamp()
        where store = ${store} and digest = ${digest} and state = 'stored'
        returning key
      `,
    )
  )?.key

/**
 * Makes a complete object the stored one of its digest. `taken` if another is stored; `gone` if tidying has claimed it, because its
 * upload took too long.
 */
export async function storeObject(
  db: Db,
  key: string,
  { digest, sizeBytes }: StoredBlob,
): Promise<'stored' | 'taken' | 'gone'> {
  try {
    const changed = await db.run(sql`
      update blob_objects
      set state = 'stored', digest = ${digest}, size = ${sizeBytes}::bigint, changed_at = clock_timestamp()
      where key = ${key} and state = 'uploading'
    `)
    return changed > 0 ? 'stored' : 'gone'
  } catch (error) {
    if (violatedUnique(error) === 'blob_objects_stored') return 'taken'
    throw error
  }
}

/** From now on the object is not read. False if it has left that state meanwhile. */
export const leaveObject = async (db: Db, key: string, from: 'uploading' | 'stored'): Promise<boolean> =>
  (await db.run(
    sql`
      update blob_objects set state = 'leaving', changed_at = clock_timestamp() where key = ${key} and state = ${from}
    `,
  )) > 0

/** As `leaveObject`, of the stored object of a digest, unless it was stored at `since` or later. Its key. */
export const leaveDigest = async (
  db: Db,
  store: string,
  digest: Digest,
  since: Date | undefined,
): Promise<string | undefined> =>
  (
    await db.row(
      { key: text },
      sql`
        update blob_objects
        set state = 'leaving', changed_at = clock_timestamp()
        where store = ${store}
          and digest = ${digest}
          and state = 'stored'
          and changed_at < coalesce(${since ?? null}::timestamptz, 'infinity')
        returning key
      `,
    )
  )?.key

/** Forgets an object that is not in the store. */
export const forgetObject = (db: Db, key: string): Promise<number> =>
  db.run(sql`delete from blob_objects where key = ${key} and state <> 'stored'`)

const objectRow = { key: text, size: notNull(integer) }
export type ObjectRow = RowOf<typeof objectRow>

export const findObject = (db: Db, store: string, digest: Digest): Promise<ObjectRow | undefined> =>
  db.row(
    objectRow,
    sql`select key, size from blob_objects where store = ${store} and digest = ${digest} and state = 'stored'`,
  )

/** A page of the stored blobs in the order of their digests, beginning after `after`. */
export const storedObjects = (
  db: Db,
  store: string,
  after: string,
  limit: number,
): Promise<{ digest: Digest; size: number; changed_at: string }[]> =>
  db.rows(
    { digest: notNull(textOf<Digest>()), size: notNull(integer), changed_at: timestamp },
    sql`
      select digest, size, changed_at
      from blob_objects
      where store = ${store} and state = 'stored' and digest > ${after}
      order by digest
      limit ${literal(limit)}
    `,
  )

/** A page of the objects that crashes may have left, and that are no longer in use. */
export const claimUnfinished = async (db: Db, store: string, before: Date, limit: number): Promise<string[]> =>
  (
    await db.rows(
      { key: text },
      sql`
        update blob_objects
        set state = 'leaving'
        where key = any(
            array(
              select key
              from blob_objects
              where store = ${store} and state <> 'stored' and changed_at < ${before}
              order by changed_at
              limit ${literal(limit)}
            )
          )
          and state <> 'stored'
        returning key
      `,
    )
  ).map(({ key }) => key)

/** Whether an object is being uploaded, and has gone on since `before`. */
export const isUploading = (db: Db, key: string, before: Date): Promise<boolean> =>
  db.exists(sql`select from blob_objects where key = ${key} and state = 'uploading' and changed_at >= ${before}`)

/** Those of the keys that belong to no object. */
export const unknownAmong = async (db: Db, keys: readonly string[]): Promise<string[]> =>
  (
    await db.rows(
      { key: text },
      sql`
        select k.key
        from unnest(${keys}::text[]) as k (key)
        where not exists (select from blob_objects o where o.key = k.key)
      `,
    )
  ).map(({ key }) => key)
