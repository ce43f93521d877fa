import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { GpgPublicKey } from './public-key.ts'

export const gpgKeyRow = {
  id: integer,
  user_id: integer,
  key: text,
  fingerprint: text,
  key_id: text,
  created_at: timestamp,
  updated_at: timestamp,
}
export type GpgKeyRow = RowOf<typeof gpgKeyRow>

const columns = sql`k.id, k.user_id, k.key, k.fingerprint, k.key_id, k.created_at, k.updated_at`

/** Keys of a user, oldest first. */
export const gpgKeysOf = (userId: number): List => ({
  type: 'GPGKey',
  select: sql`select ${columns} from gpg_keys k`,
  from: raw('from gpg_keys k'),
  where: [sql`k.user_id = ${userId}`],
  order: [{ by: raw('k.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findGpgKeyOf = (db: Db, userId: number, id: number): Promise<GpgKeyRow | undefined> =>
  db.row(gpgKeyRow, sql`select ${columns} from gpg_keys k where k.id = ${id} and k.user_id = ${userId}`)

/** Adds a key with its subkeys. `undefined` if the installation has the key already. */
export async function insertGpgKey(
  tx: Tx,
  userId: number,
  text: string,
  { fingerprint, keyId, identities, subkeys }: GpgPublicKey,
): Promise<GpgKeyRow | undefined> {
  const row = await tx.row(
    gpgKeyRow,
    sql`
      insert into gpg_keys as k (user_id, key, fingerprint, key_id, identities)
      values (${userId}, ${text}, ${fingerprint}, ${keyId}, ${JSON.stringify(identities)}::jsonb)
      on conflict do nothing
      returning ${columns}
    `,
  )
  if (row && subkeys.length > 0)
    await tx.run(sql`
      insert into gpg_subkeys (gpg_key_id, fingerprint, key_id)
      select ${row.id}::bigint, s.fingerprint, s."keyId"
      from jsonb_to_recordset(${JSON.stringify(subkeys)}::jsonb) as s (fingerprint text, "keyId" text)
      on conflict do nothing
    `)
  return row
}

/** Returns the deleted row; `undefined` if there is none. */
export const deleteGpgKeyOf = (tx: Tx, userId: number, id: number): Promise<GpgKeyRow | undefined> =>
  tx.row(gpgKeyRow, sql`delete from gpg_keys k where k.id = ${id} and k.user_id = ${userId} returning ${columns}`)

/** Locks the row against signature checks that use the key. False if there is none. */
export const lockGpgKeyOf = (tx: Tx, userId: number, id: number): Promise<boolean> =>
  tx.exists(sql`select 1 as one from gpg_keys where id = ${id} and user_id = ${userId} for update`)
