import type { Db, Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { UserRow } from './queries.ts'

/** Attributes that an edit writes unchanged. */
export const userAttributeNames = [
  'username',
  'name',
  'admin',
  'external',
  'can_create_group',
  'projects_limit',
  'private_profile',
  'bio',
  'location',
  'public_email',
  'commit_email',
  'skype',
  'linkedin',
  'twitter',
  'website_url',
  'organization',
  'job_title',
  'note',
  'theme_id',
  'color_scheme_id',
  'shared_runners_minutes_limit',
  'extra_shared_runners_minutes_limit',
] as const satisfies readonly (keyof UserRow)[]

export type UserAttributes = Pick<UserRow, (typeof userAttributeNames)[number]>

const assignments = (attributes: Partial<UserAttributes>): Sql =>
  userAttributeNames.reduce(
    (all, name) => (attributes[name] === undefined ? all : sql`${all}, ${raw(name)} = ${attributes[name]}`),
    sql`updated_at = now()`,
  )

export const updateUser = (tx: Tx, id: number, attributes: Partial<UserAttributes>): Promise<number> =>
  tx.run(sql`update users set ${assignments(attributes)} where id = ${id}`)

/** Locks the account against concurrent edits until the transaction ends. False if it does not exist. */
export const lockUser = (tx: Tx, id: number): Promise<boolean> =>
  tx.exists(sql`select 1 from users where id = ${id} for no key update`)

/**
 * Sets the password, and revokes the tokens that sign-ins with an earlier one have issued: a thief of that one must not stay signed in.
 * An expired password must be changed before it can be used.
 */
export async function writePassword(tx: Tx, id: number, digest: string, expired: boolean): Promise<void> {
  // Before the tokens: what issues one locks the user first.
  await tx.run(sql`
    update users
    set password_digest = ${digest}, password_expires_at = case when ${expired} then now() end, updated_at = now()
    where id = ${id}
  `)
  await tx.run(sql`update access_tokens set revoked = true where user_id = ${id} and kind = 'oauth' and not revoked`)
}

/** Links the user to this account at the provider, replacing an earlier one. False if it is as it was. */
export const saveIdentity = async (
  tx: Tx,
  userId: number,
  identity: { provider: string; externUid: string; samlProviderId?: number },
): Promise<boolean> =>
  (await tx.run(sql`
    insert into identities (user_id, provider, extern_uid, saml_provider_id)
    values (${userId}, ${identity.provider}, ${identity.externUid}, ${identity.samlProviderId ?? null})
    on conflict (user_id, provider) do update
      set extern_uid = excluded.extern_uid,
        saml_provider_id = coalesce(excluded.saml_provider_id, identities.saml_provider_id)
      where (identities.extern_uid, identities.saml_provider_id) is distinct from (
        excluded.extern_uid, coalesce(excluded.saml_provider_id, identities.saml_provider_id)
      )
  `)) > 0

/** False if the user has no identity at this provider. */
export const deleteIdentity = async (tx: Tx, userId: number, provider: string): Promise<boolean> =>
  (await tx.run(sql`delete from identities where user_id = ${userId} and provider = ${provider}`)) > 0

export const isGroup = (db: Db, id: number): Promise<boolean> =>
  db.exists(sql`select 1 from namespaces where id = ${id} and kind = 'group' and not deleting`)
