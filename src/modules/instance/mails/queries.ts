import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, nullable, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { Mail } from '../../../mail/mailer.ts'

export const insertMail = async (tx: Tx, mail: Mail): Promise<number> => (await insertMails(tx, [mail]))[0]!

/** Returns the ids of the new rows, in the order of the mails. One statement. */
export const insertMails = async (tx: Tx, mails: readonly Mail[]): Promise<number[]> => {
  const rows = await tx.rows(
    { id: integer },
    sql`
      insert into mails (recipient, sender, subject, body, html)
      select m."to", m."from", m.subject, m.body, m.html
      from jsonb_to_recordset(${JSON.stringify(mails)}::jsonb) as m (
        "to" text, "from" jsonb, subject text, body text, html text
      )
      returning id
    `,
  )
  return rows.map(({ id }) => id)
}

/** False if mails for this cause, such as a note, were queued before. Call it in the transaction that queues them. */
export const beginMails = async (tx: Tx, cause: string): Promise<boolean> =>
  (await tx.run(sql`insert into mailed_causes (cause) values (${cause}) on conflict do nothing`)) > 0

/** Remembers that mails for these causes were queued. Call it in the transaction that queues them. */
export const rememberCauses = (tx: Tx, causes: readonly string[]): Promise<number> =>
  tx.run(sql`insert into mailed_causes (cause) select unnest(${causes}::text[]) on conflict do nothing`)

/** A job is not repeated as late as after a week. */
export const forgetCauses = (db: Db): Promise<number> =>
  db.run(sql`delete from mailed_causes where created_at < now() - interval '7 days'`)

/** A mail as it was queued; `html` is null if the HTML part shows the plain text. */
export async function findMail(
  db: Db,
  id: number,
): Promise<(Omit<Mail, 'html'> & { html: string | null }) | undefined> {
  const found = await db.row(
    { to: text, from: nullable(json<NonNullable<Mail['from']>>()), subject: text, body: text, html: nullable(text) },
    sql`select recipient as to, sender as from, subject, body, html from mails where id = ${id}`,
  )
  return found && { ...found, from: found.from ?? undefined }
}

/** Header and footer of every mail, from the appearance; empty unless enabled. */
export const findFrame = async (db: Db): Promise<{ header: string; footer: string }> =>
  (await db.row(
    { header: text, footer: text },
    sql`
      select coalesce(texts ->> 'header_message', '') as header, coalesce(texts ->> 'footer_message', '') as footer
      from appearance
      where (texts ->> 'email_header_and_footer_enabled')::boolean
    `,
  )) ?? { header: '', footer: '' }

export const deleteMail = (db: Db, id: number): Promise<number> => db.run(sql`delete from mails where id = ${id}`)

/** Deletes mails that were not sent within a week. */
export const deleteStaleMails = (db: Db): Promise<number> =>
  db.run(sql`delete from mails where created_at < now() - interval '7 days'`)

/** Deletes unsent mails to these addresses, which are in lower case. */
export const deleteMailsTo = (tx: Tx, addresses: readonly string[]): Promise<number> =>
  tx.run(sql`delete from mails where lower(recipient) = any(${addresses}::text[])`)
