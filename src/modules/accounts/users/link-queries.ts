import type { Db, Tx } from '../../../db/db.ts'
import { integer, type RowOf, text } from '../../../db/row.ts'
import { type Sql, sql } from '../../../db/sql.ts'

export type LinkPurpose = 'confirmation' | 'password'

/** A link that was mailed to a user. */
export const linkRow = {
  user_id: integer,
  address: text,
  username: text,
}
export type LinkRow = RowOf<typeof linkRow>

export const insertLink = (
  tx: Tx,
  link: { digest: Buffer; userId: number; purpose: LinkPurpose; address: string; lifetimeHours: number },
): Promise<number> =>
  tx.run(sql`
    insert into mail_links (digest, user_id, purpose, address, expires_at)
    values (
      ${link.digest}, ${link.userId}, ${link.purpose}, ${link.address},
      now() + make_interval(hours => ${link.lifetimeHours}::integer)
    )
  `)

const select = sql`select l.user_id, l.address, u.username from mail_links l join users u on u.id = l.user_id`

export const findLink = (db: Db, digest: Buffer, purpose: LinkPurpose): Promise<LinkRow | undefined> =>
  db.row(linkRow, sql`${select} where l.digest = ${digest} and l.purpose = ${purpose} and l.expires_at > now()`)

/** Uses up a link. Of two concurrent requests, one finds it gone. */
export const takeLink = (tx: Tx, digest: Buffer, purpose: LinkPurpose): Promise<LinkRow | undefined> =>
  tx.row(
    linkRow,
    sql`
      with taken as (
        delete from mail_links where digest = ${digest} and purpose = ${purpose} and expires_at > now() returning *
      )
      select l.user_id, l.address, u.username
      from taken l join users u on u.id = l.user_id
    `,
  )

export const deleteLinks = (tx: Tx, userId: number, purpose: LinkPurpose): Promise<number> =>
  tx.run(sql`delete from mail_links where user_id = ${userId} and purpose = ${purpose}`)

/** Ignores rows in the future: they were written before the clock was set back and must not prevent the next mail. */
const lately = (minutes: number): Sql =>
  sql`created_at between now() - make_interval(mins => ${minutes}::integer) and now() + interval '1 minute'`

/** Whether a link was sent within the last minutes. Prevents flooding an inbox with mails. */
export const sentRecently = (db: Db, userId: number, purpose: LinkPurpose, minutes: number): Promise<boolean> =>
  db.exists(sql`
    select 1 from mail_links where user_id = ${userId} and purpose = ${purpose} and ${lately(minutes)} limit 1
  `)

export const deleteExpiredLinks = (db: Db): Promise<number> =>
  db.run(sql`delete from mail_links where expires_at <= now()`)

/** Number of unused links sent within the last minutes. */
export const countSent = async (db: Db, userId: number, purpose: LinkPurpose, minutes: number): Promise<number> =>
  (await db.row(
    { sent: integer },
    sql`
      select count(*) as sent from mail_links where user_id = ${userId} and purpose = ${purpose} and ${lately(minutes)}
    `,
  ))!.sent

/** The account for a password reset: of a person, by primary address. */
export const findByEmail = (
  tx: Tx,
  email: string,
): Promise<{ id: number; name: string; username: string; email: string } | undefined> =>
  tx.row(
    { id: integer, name: text, username: text, email: text },
    sql`
      select id, name, username, email
      from users
      where lower(email) = lower(${email}) and kind = 'human' and state in ('active', 'deactivated')
      for no key update
    `,
  )
