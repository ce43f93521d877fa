import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, notNull, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'

/** A secondary e-mail address. */
export const emailRow = {
  id: integer,
  user_id: integer,
  email: text,
  confirmed_at: nullable(timestamp),
  created_at: timestamp,
}
export type EmailRow = RowOf<typeof emailRow>

const columns = sql`e.id, e.user_id, e.email, e.confirmed_at, e.created_at`

/** Secondary addresses of a user, oldest first. */
export const emailsOf = (userId: number): List => ({
  type: 'Email',
  select: sql`select ${columns} from emails e`,
  from: raw('from emails e'),
  where: [sql`e.user_id = ${userId}`],
  order: [{ by: raw('e.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findEmailOf = (db: Db, userId: number, id: number): Promise<EmailRow | undefined> =>
  db.row(emailRow, sql`select ${columns} from emails e where e.id = ${id} and e.user_id = ${userId}`)

/** All email addresses: the row `a`, its user `u`, and for a secondary address `e`. */
export const ownedAddresses = raw(
  'email_addresses a join users u on u.id = a.user_id left join emails e on e.id = a.email_id',
)

/** Whether one of `ownedAddresses` is confirmed. */
export const isConfirmedAddress = raw(
  '(case when a.email_id is null then u.confirmed_at else e.confirmed_at end is not null)',
)

/** The users who confirmed one of these addresses. */
export const confirmedOwners = async (db: Db, addresses: readonly string[]): Promise<number[]> =>
  (
    await db.rows(
      { user_id: integer },
      sql`
        select distinct a.user_id
        from ${ownedAddresses}
        where a.address = any(${addresses.map((address) => address.toLowerCase())}::text[]) and ${isConfirmedAddress}
      `,
    )
  ).map(({ user_id }) => user_id)

/** Those of the addresses, in lower case, that a user confirmed. */
export const confirmedAddresses = async (db: Db, addresses: readonly string[]): Promise<string[]> =>
  (
    await db.rows(
      { address: text },
      sql`
        select a.address
        from ${ownedAddresses}
        where a.address = any(${addresses.map((address) => address.toLowerCase())}::text[]) and ${isConfirmedAddress}
      `,
    )
  ).map(({ address }) => address)

/** All addresses of a user, in lower case. */
export const addressesOfUser = (db: Db, userId: number): Promise<{ address: string; confirmed: boolean }[]> =>
  db.rows(
    { address: text, confirmed: notNull(boolean) },
    sql`select a.address, ${isConfirmedAddress} as confirmed from ${ownedAddresses} where a.user_id = ${userId}`,
  )

/** Those of the ids that users have. */
export const usersAmong = async (db: Db, ids: readonly number[]): Promise<number[]> =>
  (await db.rows({ id: integer }, sql`select id from users where id = any(${ids}::bigint[])`)).map(({ id }) => id)

/** Fails with `email_addresses_pkey` if a user has the address. */
export const insertEmail = async (tx: Tx, userId: number, email: string, confirmed: boolean): Promise<EmailRow> =>
  (await tx.row(
    emailRow,
    sql`
      insert into emails as e (user_id, email, confirmed_at)
      values (${userId}, ${email}, case when ${confirmed} then now() end)
      returning ${columns}
    `,
  ))!

/** Deletes a secondary address, also as public and commit address. False if it does not exist. */
export const deleteEmailOf = async (tx: Tx, userId: number, id: number): Promise<boolean> =>
  (await tx.run(sql`
    with gone as (delete from emails where id = ${id} and user_id = ${userId} returning email),
    hidden as (
      update users u
      set public_email = case when lower(u.public_email) = lower(gone.email) then '' else u.public_email end,
        commit_email = case when lower(u.commit_email) = lower(gone.email) then null else u.commit_email end
      from gone
      where u.id = ${userId} and lower(gone.email) in (lower(u.public_email), lower(u.commit_email))
    )
    select
    from gone
  `)) > 0

/** Whether the user has this address and has confirmed it. */
export const ownsEmail = (db: Db, userId: number, email: string): Promise<boolean> =>
  db.exists(sql`
    select 1
    from users
    where id = ${userId} and lower(email) = lower(${email}) and confirmed_at is not null
    union all
    select 1
    from emails
    where user_id = ${userId} and lower(email) = lower(${email}) and confirmed_at is not null
  `)

/** Whether the address belongs to another user than this one; without one, to any. */
export const isOthersEmail = (db: Db, userId: number | null, email: string): Promise<boolean> =>
  db.exists(
    sql`select 1 from email_addresses where address = lower(${email}) and user_id is distinct from ${userId}::bigint`,
  )

/**
 * Replaces the primary address of an account with a confirmed one. Removes it from the secondary addresses, and the former one from what
 * the user chose; an address that only changes its case stays chosen.
 */
export async function replaceEmail(tx: Tx, userId: number, email: string): Promise<void> {
  const former = sql`nullif(lower(email), lower(${email}))`
  await tx.run(sql`delete from emails where user_id = ${userId} and lower(email) = lower(${email})`)
  await tx.run(sql`
    update users
    set public_email = case when lower(public_email) = ${former} then '' else public_email end,
      commit_email = case when lower(commit_email) = ${former} then null else commit_email end, email = ${email},
      unconfirmed_email = null, confirmed_at = coalesce(confirmed_at, now()), updated_at = now()
    where id = ${userId}
  `)
}

export const holdEmail = (tx: Tx, userId: number, email: string): Promise<number> =>
  tx.run(sql`update users set unconfirmed_email = ${email}, updated_at = now() where id = ${userId}`)

/** The address that awaits confirmation can no longer be confirmed: the present one stays. */
export const dropHeldEmail = (tx: Tx, userId: number): Promise<number> =>
  tx.run(sql`update users set unconfirmed_email = null where id = ${userId} and unconfirmed_email is not null`)

/** Confirms an address of a user. Returns which address it was; `undefined` if it does not await confirmation. */
export async function confirmAddress(
  tx: Tx,
  userId: number,
  address: string,
): Promise<'first' | 'new' | 'further' | undefined> {
  const held = await tx.row(
    { first: boolean, next: boolean },
    sql`
      select email = ${address}
        and confirmed_at is null as first, coalesce(unconfirmed_email = ${address}, false) as next
      from users
      where id = ${userId}
      for no key update
    `,
  )
  if (held?.next) {
    await replaceEmail(tx, userId, address)
    return 'new'
  }
  if (held?.first) {
    await tx.run(sql`update users set confirmed_at = now(), updated_at = now() where id = ${userId}`)
    return 'first'
  }
  const further = await tx.run(sql`
    update emails set confirmed_at = now() where user_id = ${userId} and email = ${address} and confirmed_at is null
  `)
  return further > 0 ? 'further' : undefined
}
