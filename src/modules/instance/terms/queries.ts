import type { Db, Tx } from '../../../db/db.ts'
import { integer, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export const termsRow = {
  id: integer,
  text: text,
  accepted_at: nullable(timestamp),
}
export type TermsRow = RowOf<typeof termsRow>

/** The terms in force, and when the user accepted them. */
export const termsFor = (db: Db, userId: number): Promise<TermsRow | undefined> =>
  db.row(
    termsRow,
    sql`
      select t.id, t.text, a.created_at as accepted_at
      from terms t left join term_agreements a on a.terms_id = t.id and a.user_id = ${userId}
      order by t.id desc
      limit 1
    `,
  )

export const insertTerms = (tx: Tx, text: string): Promise<number> =>
  tx.run(sql`insert into terms (text) values (${text})`)

/** Returns 0 if the user accepted them before. */
export const insertAgreement = (tx: Tx, userId: number, termsId: number): Promise<number> =>
  tx.run(
    sql`
      insert into term_agreements (user_id, terms_id)
      values (${userId}, ${termsId})
      on conflict (user_id, terms_id) do nothing
    `,
  )
