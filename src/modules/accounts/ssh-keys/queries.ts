import type { List } from '../../../api/page.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import { accountColumns, type CredentialRow } from '../tokens/queries.ts'

export type SshKeyRow = {
  id: number
  /** Null for a deploy key. */
  user_id: number | null
  /** Who made a deploy key, while he has an account. */
  creator_id: number | null
  title: string
  key: string
  fingerprint: string
  fingerprint_sha256: string
  expires_at: Timestamp | null
  created_at: Timestamp
  updated_at: Timestamp
}

const columns = sql`k.id, k.user_id, k.creator_id, k.title, k.key, k.fingerprint, k.fingerprint_sha256, k.expires_at, k.created_at, k.updated_at`

/** Keys of one person, oldest first. */
export const keysOf = (userId: number): List => ({
  type: 'Key',
  select: sql`select ${columns} from ssh_keys k`,
  from: raw('from ssh_keys k'),
  where: [sql`k.user_id = ${userId}`],
  order: [{ by: raw('k.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findKeyOf = (db: Db, userId: number, id: number): Promise<SshKeyRow | undefined> =>
  db.row<SshKeyRow>(sql`select ${columns} from ssh_keys k where k.id = ${id} and k.user_id = ${userId}`)

/** Anybody's key, deploy keys included. */
export const findKey = (db: Db, id: number): Promise<SshKeyRow | undefined> =>
  db.row<SshKeyRow>(sql`select ${columns} from ssh_keys k where k.id = ${id}`)

/** MD5 with colons, or SHA-256 in base64 without padding. Of several keys with one MD5, the first. */
export const findKeyByFingerprint = (
  db: Db,
  fingerprint: { md5: string } | { sha256: string },
): Promise<SshKeyRow | undefined> =>
  db.row<SshKeyRow>(
    'md5' in fingerprint
      ? sql`select ${columns} from ssh_keys k where k.fingerprint = ${fingerprint.md5} order by k.id limit 1`
      : sql`select ${columns} from ssh_keys k where k.fingerprint_sha256 = ${fingerprint.sha256}`,
  )

export type NewSshKey = {
  userId: number | null
  creatorId: number | null
  title: string
  key: string
  md5: string
  sha256: string
  expiresAt: Date | null
}

/** `undefined` when the installation has that key already. */
export const insertKey = (tx: Db, key: NewSshKey): Promise<SshKeyRow | undefined> =>
  tx.row<SshKeyRow>(sql`
    insert into ssh_keys as k (user_id, creator_id, title, key, fingerprint, fingerprint_sha256, expires_at)
    values (${key.userId}, ${key.creatorId}, ${key.title}, ${key.key}, ${key.md5}, ${key.sha256}, ${key.expiresAt})
    on conflict (fingerprint_sha256) do nothing returning ${columns}`)

export const updateTitle = (tx: Db, id: number, title: string): Promise<number> =>
  tx.run(sql`update ssh_keys set title = ${title}, updated_at = now() where id = ${id} and title <> ${title}`)

/** `undefined` when it is not there. */
export const deleteKeyOf = (db: Db, userId: number, id: number): Promise<SshKeyRow | undefined> =>
  db.row<SshKeyRow>(sql`delete from ssh_keys k where k.id = ${id} and k.user_id = ${userId} returning ${columns}`)

/** A key with the account that is its person's; a deploy key has none. */
export type KeyCredentialRow = {
  key_id: number
  title: string
  key: string
  creator_id: number | null
  expired: boolean
} & (CredentialRow | { user_id: null })

export const isKnownKey = async (db: Db, sha256: string): Promise<boolean> =>
  (await db.row(sql`select 1 as one from ssh_keys where fingerprint_sha256 = ${sha256}`)) !== undefined

const credential = sql`select ${accountColumns}, k.id as key_id, k.title, k.key, k.creator_id, coalesce(k.expires_at <= now(), false) as expired
  from ssh_keys k left join users u on u.id = k.user_id`

/** All that authentication asks. One statement. */
export const findKeyCredential = (db: Db, sha256: string): Promise<KeyCredentialRow | undefined> =>
  db.row<KeyCredentialRow>(sql`${credential} where k.fingerprint_sha256 = ${sha256}`)

export const findDeployKeyCredential = (db: Db, id: number): Promise<KeyCredentialRow | undefined> =>
  db.row<KeyCredentialRow>(sql`${credential} where k.id = ${id} and k.user_id is null`)

/** Notes the use of a key and its person's day of activity, at most once in ten minutes a key. */
export const touchKey = (db: Db, keyId: number): Promise<number> =>
  db.run(sql`
    with used as (
      update ssh_keys set last_used_at = now()
      where id = ${keyId} and (last_used_at is null or last_used_at < now() - interval '10 minutes') returning user_id)
    update users set last_activity_on = current_date from used where users.id = used.user_id and last_activity_on is distinct from current_date`)

/** That a deploy key is enabled in a project. */
export type EnabledRow = {
  id: number
  deploy_key_id: number
  project_id: number
  created_at: Timestamp
  updated_at: Timestamp
  can_push: boolean
}

export const enabledOf = (db: Db, deployKeyId: number): Promise<EnabledRow[]> =>
  db.rows<EnabledRow>(sql`select id, deploy_key_id, project_id, created_at, updated_at, can_push
    from deploy_key_projects where deploy_key_id = ${deployKeyId} order by id`)

/** Gives a deploy key to the installation. */
export const makePublic = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`update ssh_keys set public = true where id = ${id}`)

/** Takes a key of the installation from all projects. */
export const deletePublicKey = (tx: Tx, id: number): Promise<{ title: string } | undefined> =>
  tx.row(sql`delete from ssh_keys where id = ${id} and public returning title`)
