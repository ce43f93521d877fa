import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { allNullable, boolean, integer, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { accountColumns, type CredentialRow, credentialRow } from '../tokens/queries.ts'

export const sshKeyRow = {
  id: integer,
  /** Null for a deploy key. */
  user_id: nullable(integer),
  /** Creator of a deploy key, as long as the account exists. */
  creator_id: nullable(integer),
  title: text,
  key: text,
  fingerprint: text,
  fingerprint_sha256: text,
  expires_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
}
export type SshKeyRow = RowOf<typeof sshKeyRow>

const columns = sql`
  k.id, k.user_id, k.creator_id, k.title, k.key, k.fingerprint, k.fingerprint_sha256, k.expires_at, k.created_at,
  k.updated_at
`

/** Keys of a user, oldest first. */
export const keysOf = (userId: number): List => ({
  type: 'Key',
  select: sql`select ${columns} from ssh_keys k`,
  from: raw('from ssh_keys k'),
  where: [sql`k.user_id = ${userId}`],
  order: [{ by: raw('k.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findKeyOf = (db: Db, userId: number, id: number): Promise<SshKeyRow | undefined> =>
  db.row(sshKeyRow, sql`select ${columns} from ssh_keys k where k.id = ${id} and k.user_id = ${userId}`)

/** A key of any user, or a deploy key. */
export const findKey = (db: Db, id: number): Promise<SshKeyRow | undefined> =>
  db.row(sshKeyRow, sql`select ${columns} from ssh_keys k where k.id = ${id}`)

/** MD5 with colons, or SHA-256 in base64 without padding. If several keys have the same MD5, the first. */
export const findKeyByFingerprint = (
  db: Db,
  fingerprint: { md5: string } | { sha256: string },
): Promise<SshKeyRow | undefined> =>
  db.row(
    sshKeyRow,
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

/** `undefined` if the installation has the key already. */
export const insertKey = (tx: Db, key: NewSshKey): Promise<SshKeyRow | undefined> =>
  tx.row(
    sshKeyRow,
    sql`
      insert into ssh_keys as k (user_id, creator_id, title, key, fingerprint, fingerprint_sha256, expires_at)
      values (${key.userId}, ${key.creatorId}, ${key.title}, ${key.key}, ${key.md5}, ${key.sha256}, ${key.expiresAt})
      on conflict (fingerprint_sha256) do nothing
      returning ${columns}
    `,
  )

export const updateTitle = (tx: Db, id: number, title: string): Promise<number> =>
  tx.run(sql`update ssh_keys set title = ${title}, updated_at = now() where id = ${id} and title <> ${title}`)

/** Returns the deleted row; `undefined` if there is none. */
export const deleteKeyOf = (db: Db, userId: number, id: number): Promise<SshKeyRow | undefined> =>
  db.row(sshKeyRow, sql`delete from ssh_keys k where k.id = ${id} and k.user_id = ${userId} returning ${columns}`)

const joinedCredentialRow = {
  ...allNullable(credentialRow),
  key_id: integer,
  title: text,
  key: text,
  creator_id: nullable(integer),
  expired: boolean,
}

/** A key with the account of its user; a deploy key has none. */
export type KeyCredentialRow = Omit<RowOf<typeof joinedCredentialRow>, keyof CredentialRow> &
  (CredentialRow | { user_id: null })

export const isKnownKey = (db: Db, sha256: string): Promise<boolean> =>
  db.exists(sql`select 1 as one from ssh_keys where fingerprint_sha256 = ${sha256}`)

const credential = sql`
  select ${accountColumns}, k.id as key_id, k.title, k.key, k.creator_id,
    coalesce(k.expires_at <= now(), false) as expired
  from ssh_keys k left join users u on u.id = k.user_id
`

/** The left join supplies a whole account or nothing of it. */
const findCredential = async (db: Db, condition: Sql): Promise<KeyCredentialRow | undefined> =>
  (await db.row(joinedCredentialRow, sql`${credential} where ${condition}`)) as KeyCredentialRow | undefined

/** All data for authentication. One statement. */
export const findKeyCredential = (db: Db, sha256: string): Promise<KeyCredentialRow | undefined> =>
  findCredential(db, sql`k.fingerprint_sha256 = ${sha256}`)

export const findDeployKeyCredential = (db: Db, id: number): Promise<KeyCredentialRow | undefined> =>
  findCredential(db, sql`k.id = ${id} and k.user_id is null`)

export const findUserKeyCredential = (db: Db, id: number): Promise<KeyCredentialRow | undefined> =>
  findCredential(db, sql`k.id = ${id} and k.user_id is not null`)

/** A deploy key enabled in a project. */
export const enabledRow = {
  id: integer,
  deploy_key_id: integer,
  project_id: integer,
  created_at: timestamp,
  updated_at: timestamp,
  can_push: boolean,
}
export type EnabledRow = RowOf<typeof enabledRow>

export const enabledOf = (db: Db, deployKeyId: number): Promise<EnabledRow[]> =>
  db.rows(
    enabledRow,
    sql`
      select id, deploy_key_id, project_id, created_at, updated_at, can_push
      from deploy_key_projects
      where deploy_key_id = ${deployKeyId}
      order by id
    `,
  )

/** Gives a deploy key to the installation. */
export const makePublic = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`update ssh_keys set public = true where id = ${id}`)

/** Takes a key of the installation from all projects. */
export const deletePublicKey = (tx: Tx, id: number): Promise<{ title: string } | undefined> =>
  tx.row({ title: text }, sql`delete from ssh_keys where id = ${id} and public returning title`)
