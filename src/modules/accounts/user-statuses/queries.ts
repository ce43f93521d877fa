import type { Db } from '../../../db/db.ts'
import { type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export const statusRow = {
  emoji: text,
  message: text,
}
export type StatusRow = RowOf<typeof statusRow>

export const findStatus = (db: Db, userId: number): Promise<StatusRow | undefined> =>
  db.row(statusRow, sql`select emoji, message from user_statuses where user_id = ${userId}`)

export const saveStatus = (db: Db, userId: number, { emoji, message }: StatusRow): Promise<number> =>
  db.run(sql`
    insert into user_statuses (user_id, emoji, message)
    values (${userId}, ${emoji}, ${message})
    on conflict (user_id) do update set emoji = excluded.emoji, message = excluded.message, updated_at = now()
  `)

export const deleteStatus = (db: Db, userId: number): Promise<number> =>
  db.run(sql`delete from user_statuses where user_id = ${userId}`)
