import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean } from '../../../db/row.ts'
import { join, raw, type Sql, sql } from '../../../db/sql.ts'
import { userReferenceColumns } from '../../accounts/index.ts'
import { assignedTables, type NoteableType } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, tableOf } from '../noteables/queries.ts'

/**
 * Ids of those who participate in the noteable with this id and author, with duplicates: author, assignees, reviewers, commenters
 * and mentioned users. The one definition of it: lists, subscriptions and mails use this.
 */
export function participants(type: NoteableType, id: Sql, authorId: Sql): Sql {
  const is = sql`${columnOf(type)} = ${id}`
  const assigned = assignedTables(type).map((table) => sql`select a.user_id from ${raw(table)} a where a.${is}`)
  const written = [
    sql`select n.author_id from notes n where n.${is} and not n.system`,
    sql`select t.user_id from mentions t where t.${is}`,
  ]
  return join([sql`select ${authorId} as user_id`, ...assigned, ...written], ' union all ')
}

/** Participants of a noteable; the author first, others by id. */
export const participantsOf = ({ type, id }: Noteable): List => {
  const authorId = sql`(select m.author_id from ${tableOf(type)} m where m.id = ${id})`
  return {
    type: 'User',
    select: sql`select ${userReferenceColumns} from users u`,
    from: raw('from users u'),
    where: [sql`u.id = any(array(${participants(type, sql`${id}`, authorId)}))`],
    order: [
      { by: sql`u.id = ${authorId}`, direction: 'desc' },
      { by: raw('u.id'), direction: 'asc' },
    ],
  }
}

/** `offset 0` keeps the planner from reading all comments of the user for each row. */
const participates = (userId: number, type: NoteableType, row: Sql): Sql =>
  sql`
    exists (
      select
      from (${participants(type, sql`${row}.id`, sql`${row}.author_id`)} offset 0) each
      where each.user_id = ${userId}
    )
  `

/** Whether the caller is notified about a noteable, a row by that name: their own choice, else whether they participate. */
export const subscribedSql = (caller: Caller, type: NoteableType, row: Sql): Sql =>
  caller === null
    ? raw('false')
    : sql`
      coalesce(
        (select s.subscribed from subscriptions s where s.${columnOf(type)} = ${row}.id and s.user_id = ${caller.id}),
        ${participates(caller.id, type, row)}
      )
    `

export const findSubscribed = async (db: Db, caller: Caller, { type, id }: Noteable): Promise<boolean> =>
  (
    await db.row(
      { subscribed: boolean },
      sql`select ${subscribedSql(caller, type, raw('m'))} as subscribed from ${tableOf(type)} m where m.id = ${id}`,
    )
  )?.subscribed ?? false

/** Stores a user's choice. False if it was stored already, or if the noteable is deleted. */
export const saveSubscription = async (
  tx: Tx,
  { type, id }: Noteable,
  userId: number,
  subscribed: boolean,
): Promise<boolean> =>
  (await tx.run(sql`
    insert into subscriptions (${columnOf(type)}, user_id, subscribed)
    select m.id, ${userId}, ${subscribed}
    from ${tableOf(type)} m
    where m.id = ${id}
    on conflict (${columnOf(type)}, user_id) do update
      set subscribed = excluded.subscribed, updated_at = now() where subscriptions.subscribed <> excluded.subscribed
  `)) > 0
