import type { List } from '../../../api/page.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import type { GpgPublicKey } from './public-key.ts'

export type GpgKeyRow = {
  id: number
  user_id: number
  key: string
  fingerprint: string
  key_id: string
  created_at: Timestamp
  updated_at: Timestamp
}

const columns = sql`k.id, k.user_id, k.key, k.fingerprint, k.key_id, k.created_at, k.updated_at`

/** Keys of one person, oldest first. */
export const gpgKeysOf = (userId: number): List => ({
  type: 'GPGKey',
  select: sql`select ${columns} from gpg_keys k`,
  from: raw('from gpg_keys k'),
  where: [sql`k.user_id = ${userId}`],
  order: [{ by: raw('k.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findGpgKeyOf = (db: Db, userId: number, id: number): Promise<GpgKeyRow | undefined> =>
  db.row<GpgKeyRow>(sql`select ${columns} from gpg_keys k where k.id = ${id} and k.user_id = ${userId}`)

/** With its subkeys. `undefined` when the installation has that key already. */
export async function insertGpgKey(
  tx: Tx,
  userId: number,
  text: string,
  { fingerprint, keyId, identities, subkeys }: GpgPublicKey,
): Promise<GpgKeyRow | undefined> {
  const row = await tx.row<GpgKeyRow>(sql`
    insert into gpg_keys as k (user_id, key, fingerprint, key_id, identities)
    values (${userId}, ${text}, ${fingerprint}, ${keyId}, ${JSON.stringify(identities)}::jsonb)
    on conflict do nothing returning ${columns}`)
  if (row && subkeys.length > 0)
    await tx.run(sql`
      insert into gpg_subkeys (gpg_key_id, fingerprint, key_id)
      select ${row.id}::bigint, s.fingerprint, s."keyId"
      from jsonb_to_recordset(${JSON.stringify(subkeys)}::jsonb) as s (fingerprint text, "keyId" text) on conflict do nothing`)
  return row
}

/** `undefined` when it is not there. */
export const deleteGpgKeyOf = (tx: Tx, userId: number, id: number): Promise<GpgKeyRow | undefined> =>
  tx.row<GpgKeyRow>(sql`delete from gpg_keys k where k.id = ${id} and k.user_id = ${userId} returning ${columns}`)

/** Holds it against judgements that are being made with it. False when it is not there. */
export const lockGpgKeyOf = async (tx: Tx, userId: number, id: number): Promise<boolean> =>
  (await tx.row(sql`select 1 as one from gpg_keys where id = ${id} and user_id = ${userId} for update`)) !== undefined
