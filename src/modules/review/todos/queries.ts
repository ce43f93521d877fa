import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

export const todoActions = [
  'assigned',
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
  readonly projectId: number
  readonly mergeRequestId: number
  readonly noteId?: number
  readonly action: TodoAction
}

/** Those that are new: nobody has two that are pending for one merge request. */
export const insertTodos = (
  tx: Tx,
  todos: readonly NewTodo[],
): Promise<{ id: number; action: TodoAction; note_id: number | null }[]> =>
  tx.rows(sql`
    insert into todos (user_id, author_id, project_id, merge_request_id, note_id, action)
    select t."userId", t."authorId", t."projectId", t."mergeRequestId", t."noteId", t.action
    from jsonb_to_recordset(${JSON.stringify(todos)}::jsonb) as t ("userId" bigint, "authorId" bigint, "projectId" bigint,
      "mergeRequestId" bigint, "noteId" bigint, action text)
    join merge_requests m on m.id = t."mergeRequestId"
    on conflict (merge_request_id, user_id) where state = 'pending' do nothing returning todos.id, todos.action, todos.note_id`)

/** What somebody was to do about a merge request is done. */
export const finishTodosOn = (tx: Tx, userId: number, mergeRequestId: number): Promise<number> =>
  tx.run(sql`update todos set state = 'done', updated_at = now()
    where merge_request_id = ${mergeRequestId} and user_id = ${userId} and state = 'pending'`)

/** Everything that somebody was to do is done. */
export const finishAllTodos = (tx: Tx, userId: number): Promise<number> =>
  tx.run(sql`update todos set state = 'done', updated_at = now() where user_id = ${userId} and state = 'pending'`)

/** One thing is done. */
export const finishTodo = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`update todos set state = 'done', updated_at = now() where id = ${id} and state = 'pending'`)
