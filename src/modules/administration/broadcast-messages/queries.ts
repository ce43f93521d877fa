import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'

export const broadcastTypes = ['banner', 'notification'] as const

const content = {
  message: text,
  color: text,
  font: text,
  target_path: nullable(text),
  broadcast_type: oneOf(...broadcastTypes),
  dismissable: boolean,
}

export type BroadcastMessage = RowOf<typeof content> & { starts_at: Date; ends_at: Date }

export const broadcastMessageRow = {
  ...content,
  id: integer,
  starts_at: timestamp,
  ends_at: timestamp,
  active: boolean,
}
export type BroadcastMessageRow = RowOf<typeof broadcastMessageRow>

const columns = raw(
  'b.id, b.message, b.starts_at, b.ends_at, b.color, b.font, b.target_path, b.broadcast_type, b.dismissable, b.starts_at <= now() and b.ends_at > now() as active',
)

/** Newest first. */
export const broadcastMessages: List = {
  type: 'BroadcastMessage',
  select: sql`select ${columns} from broadcast_messages b`,
  from: sql`from broadcast_messages b`,
  where: [],
  order: [{ by: raw('b.id'), direction: 'desc' }],
  keyset: { direction: 'desc' },
}

export const findBroadcastMessage = (db: Db, id: number): Promise<BroadcastMessageRow | undefined> =>
  db.row(broadcastMessageRow, sql`select ${columns} from broadcast_messages b where b.id = ${id}`)

/** As `findBroadcastMessage`, and locks the row until the transaction ends. */
export const lockBroadcastMessage = (tx: Tx, id: number): Promise<BroadcastMessageRow | undefined> =>
  tx.row(broadcastMessageRow, sql`select ${columns} from broadcast_messages b where b.id = ${id} for update`)

export const insertBroadcastMessage = async (tx: Tx, message: BroadcastMessage): Promise<BroadcastMessageRow> =>
  (await tx.row(
    broadcastMessageRow,
    sql`
      insert into broadcast_messages as b (
        message, starts_at, ends_at, color, font, target_path, broadcast_type, dismissable
      )
      values (
        ${message.message}, ${message.starts_at}, ${message.ends_at}, ${message.color}, ${message.font},
        ${message.target_path}, ${message.broadcast_type}, ${message.dismissable}
      )
      returning ${columns}
    `,
  ))!

export const updateBroadcastMessage = async (
  tx: Tx,
  id: number,
  message: BroadcastMessage,
): Promise<BroadcastMessageRow> =>
  (await tx.row(
    broadcastMessageRow,
    sql`
      update broadcast_messages b
      set message = ${message.message}, starts_at = ${message.starts_at}, ends_at = ${message.ends_at},
        color = ${message.color}, font = ${message.font}, target_path = ${message.target_path},
        broadcast_type = ${message.broadcast_type}, dismissable = ${message.dismissable}, updated_at = now()
      where b.id = ${id}
      returning ${columns}
    `,
  ))!

export const deleteBroadcastMessage = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from broadcast_messages where id = ${id}`)
