import type { Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { holderIds } from '../../groups/index.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, isAbout, tableOf } from '../noteables/queries.ts'

export const todoActions = [
  'assigned',
  'review_requested',
  'mentioned',
  'build_failed',
  'marked',
  'approval_required',
  'unmergeable',
  'directly_addressed',
] as const
export type TodoAction = (typeof todoActions)[number]

export type NewTodo = {
  readonly userId: number
  readonly authorId: number
  readonly noteId?: number
  readonly action: TodoAction
}

/** Returns the new ones, with their users: a user has at most one pending todo for a noteable. */
export const insertTodos = (
  tx: Tx,
  { type, id, holder }: Noteable,
  todos: readonly NewTodo[],
): Promise<{ id: number; user_id: number }[]> =>
  tx.rows(
    { id: integer, user_id: integer },
    sql`
      insert into todos (user_id, author_id, project_id, ${columnOf(type)}, note_id, action)
      select t."userId", t."authorId", ${holderIds(holder).projectId}::bigint, m.id, t."noteId", t.action
      from jsonb_to_recordset(${JSON.stringify(todos)}::jsonb) as t (
          "userId" bigint, "authorId" bigint, "noteId" bigint, action text
        )
        join ${tableOf(type)} m on m.id = ${id}
      on conflict (${columnOf(type)}, user_id) where state = 'pending' do nothing
      returning todos.id, todos.user_id
    `,
  )

/**
 * Renews the pending todos of these users for the noteable, which are of earlier changes, and returns their users. A second call in the same transaction
 * finds none.
 */
export const renewTodos = async (
  tx: Tx,
  noteable: Pick<Noteable, 'type' | 'id'>,
  userIds: readonly number[],
): Promise<number[]> => {
  const rows = await tx.rows(
    { user_id: integer },
    sql`
      update todos t
      set updated_at = now()
      where ${isAbout('t', noteable)}
        and t.state = 'pending'
        and t.user_id = any(${userIds}::bigint[])
        and t.updated_at <> now()
      returning t.user_id
    `,
  )
  return rows.map(({ user_id }) => user_id)
}

/** False if the noteable is deleted. It cannot be until the transaction ends. */
export const keepNoteable = async (tx: Tx, { type, id }: Pick<Noteable, 'type' | 'id'>): Promise<boolean> =>
  (await tx.run(sql`select from ${tableOf(type)} where id = ${id} for key share`)) > 0

/** Marks the todos of a user for a noteable as done. */
export const finishTodosOn = (tx: Tx, userId: number, noteable: Pick<Noteable, 'type' | 'id'>): Promise<number> =>
  tx.run(sql`
    update todos t
    set state = 'done', updated_at = now()
    where ${isAbout('t', noteable)} and t.user_id = ${userId} and t.state = 'pending'
  `)

/** Marks all todos of a user as done. */
export const finishAllTodos = (tx: Tx, userId: number): Promise<number> =>
  tx.run(sql`update todos set state = 'done', updated_at = now() where user_id = ${userId} and state = 'pending'`)

/** Marks one todo as done. */
export const finishTodo = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`update todos set state = 'done', updated_at = now() where id = ${id} and state = 'pending'`)
