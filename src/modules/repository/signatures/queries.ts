import type { Db } from '../../../db/db.ts'
import { boolean, integer, json, listOf, nullable, oneOf, type RowOf, text, textOf } from '../../../db/row.ts'
import { literal, type Sql, sql } from '../../../db/sql.ts'
import type { Reaction } from '../../../events/reaction.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { SignatureFormat } from '../../../git/objects/signature-format.ts'
import { type Identity, isConfirmedAddress, ownedAddresses } from '../../accounts/index.ts'

export type VerificationStatus =
  | 'verified'
  /**
   * The signature does not match the commit, or the key was invalid at the time of signing or has been revoked since.
   */
  | 'unverified'
  /** No identity of the key is a confirmed address of its owner. */
  | 'unverified_key'
  /** The committer's address is the owner's, but not of the key. */
  | 'same_user_different_email'
  | 'other_user'
  | 'unknown_key'

export const judgementRow = {
  type: oneOf<SignatureFormat>('PGP', 'SSH', 'X509'),
  status: oneOf<VerificationStatus>(
    'verified',
    'unverified',
    'unverified_key',
    'same_user_different_email',
    'other_user',
    'unknown_key',
  ),
  /** Key id (OpenPGP) or SHA-256 fingerprint (SSH) in the signature; null if it cannot be parsed. */
  signer: nullable(text),
  gpg_key_id: nullable(integer),
  gpg_subkey_id: nullable(integer),
  ssh_key_id: nullable(integer),
  primary_key_id: nullable(text),
  user_name: nullable(text),
  user_email: nullable(text),
}
export type Judgement = RowOf<typeof judgementRow>

export const findJudgement = (db: Db, projectId: number, oid: Oid): Promise<Judgement | undefined> =>
  db.row(
    judgementRow,
    sql`
      select type, status, signer, gpg_key_id, gpg_subkey_id, ssh_key_id, primary_key_id, user_name, user_email
      from commit_signatures
      where project_id = ${projectId} and oid = ${oid}
    `,
  )

/** Saves a result and replaces an earlier one. No effect if the project or a key in it is gone. */
export const saveJudgement = (db: Db, projectId: number, oid: Oid, j: Judgement): Promise<number> =>
  db.run(sql`
    insert into commit_signatures (
      project_id, oid, type, status, signer, gpg_key_id, gpg_subkey_id, ssh_key_id, primary_key_id,
      user_name, user_email
    )
    select p.id, ${oid}, ${j.type}, ${j.status}, ${j.signer}, ${j.gpg_key_id}, ${j.gpg_subkey_id}, ${j.ssh_key_id},
      ${j.primary_key_id}, ${j.user_name}, ${j.user_email}
    from projects p
    where p.id = ${projectId}
      and (${j.gpg_key_id}::bigint is null or exists (select from gpg_keys where id = ${j.gpg_key_id} for key share))
      and (${j.ssh_key_id}::bigint is null or exists (select from ssh_keys where id = ${j.ssh_key_id} for key share))
    on conflict (project_id, oid) do update
      set type = excluded.type, status = excluded.status, signer = excluded.signer, gpg_key_id = excluded.gpg_key_id,
        gpg_subkey_id = excluded.gpg_subkey_id, ssh_key_id = excluded.ssh_key_id,
        primary_key_id = excluded.primary_key_id, user_name = excluded.user_name, user_email = excluded.user_email,
        judged_at = now()
  `)

export const deleteJudgement = (db: Db, projectId: number, oid: string): Promise<number> =>
  db.run(sql`delete from commit_signatures where project_id = ${projectId} and oid = ${oid}`)

/** Who made a commit, and the host of private addresses. */
export type Committer = { readonly email: string; readonly privateHost: string }

/**
 * Confirmed addresses of a key's owner, in lower case, and their private ones: the present one, and that of the committer, which may have a
 * former username, as it has the ID of the owner.
 */
const addressesWith = ({ email, privateHost }: Committer): Sql => sql`
  array(
    select a.address
    from ${ownedAddresses}
    where a.user_id = k.user_id and ${isConfirmedAddress}
    union
    select lower(u.id || '-' || u.username || '@' || ${privateHost}::text)
    from users u
    where u.id = k.user_id
    union
    select own.email
    from lower(${email}) as own (email)
    where own.email like k.user_id || '-%@' || lower(${privateHost})
    order by 1
  ) as addresses
`

export const pgpSignerRow = {
  id: integer,
  key: text,
  key_id: text,
  identities: json<Identity[]>(),
  /** Set if the signature names this subkey. */
  subkey_id: nullable(integer),
  addresses: listOf(text),
}
export type PgpSignerRow = RowOf<typeof pgpSignerRow>

/** Maximum keys per key id; without forgery there is one. */
const mostSigners = 5

/** Keys with this key id, or with a subkey that has it. */
export const findPgpSigners = (db: Db, keyId: string, committer: Committer): Promise<PgpSignerRow[]> =>
  db.rows(
    pgpSignerRow,
    sql`
      select k.id, k.key, k.key_id, k.identities, ${addressesWith(committer)},
        (
          select s.id from gpg_subkeys s where s.gpg_key_id = k.id and s.key_id = ${keyId} order by s.id limit 1
        ) as subkey_id
      from gpg_keys k
      where k.id in (
        select id from gpg_keys where key_id = ${keyId}
        union select gpg_key_id from gpg_subkeys where key_id = ${keyId}
      )
      order by k.id
      limit ${literal(mostSigners)}
    `,
  )

export const sshSignerRow = {
  id: integer,
  key: text,
  expired: boolean,
  addresses: listOf(text),
}
export type SshSignerRow = RowOf<typeof sshSignerRow>

/**
 * The user's key with this fingerprint; deploy keys have no user. `at` is the time of signing that the commit states.
 */
export const findSshSigner = (
  db: Db,
  fingerprint: string,
  at: Date,
  committer: Committer,
): Promise<SshSignerRow | undefined> =>
  db.row(
    sshSignerRow,
    sql`
      select k.id, k.key, coalesce(k.expires_at <= ${at}, false) as expired, ${addressesWith(committer)}
      from ssh_keys k
      where k.fingerprint_sha256 = ${fingerprint} and k.user_id is not null
    `,
  )

export const dueRow = {
  project_id: integer,
  repository_storage: text,
  repository_key: text,
  oid: textOf<Oid>(),
}
export type DueRow = RowOf<typeof dueRow>

/**
 * Signatures that depend on a user's keys and addresses: those that were verified with their keys, and unverified ones
 * that name one of them. Ordered by project and commit, starting after `after`.
 */
export const signaturesOfUser = (
  db: Db,
  userId: number,
  after: Pick<DueRow, 'project_id' | 'oid'>,
  limit: number,
): Promise<DueRow[]> =>
  db.rows(
    dueRow,
    sql`
      with own_gpg as (select id, key_id from gpg_keys where user_id = ${userId}),
      own_ssh as (select id, fingerprint_sha256 from ssh_keys where user_id = ${userId}),
      signers as (
        select key_id as signer from own_gpg
        union select s.key_id from gpg_subkeys s join own_gpg g on g.id = s.gpg_key_id
        union select fingerprint_sha256 from own_ssh
      ),
      due as (
        select project_id, oid
        from commit_signatures
        where gpg_key_id in (select id from own_gpg)
        union
        select project_id, oid
        from commit_signatures
        where ssh_key_id in (select id from own_ssh)
        union
        select project_id, oid
        from commit_signatures
        where gpg_key_id is null
          and ssh_key_id is null
          and status <> 'verified'
          and signer in (select signer from signers)
      )
      select d.project_id, p.repository_storage, p.repository_key, d.oid
      from due d join projects p on p.id = d.project_id
      where (d.project_id, d.oid) > (${after.project_id}, ${after.oid})
      order by d.project_id, d.oid
      limit ${literal(limit)}
    `,
  )

/** Makes everything that was verified with a revoked key unverified. */
export const distrustRevokedKey: Reaction<'gpg_key_revoked'> = (tx, { payload }) =>
  tx.run(
    sql`update commit_signatures set status = 'unverified', judged_at = now() where gpg_key_id = ${payload.gpg_key_id}`,
  )
