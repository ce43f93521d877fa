import type { Tx } from '../../../db/db.ts'
import { enqueue } from '../../../jobs/job.ts'
import { hasTodos } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { mailTodosJob } from '../subscriptions/jobs.ts'
import { isMailed } from '../subscriptions/mails.ts'
import { finishTodosOn, insertTodos, type NewTodo } from './queries.ts'

/**
 * Adds todos for a noteable to users who have none for it, except for their own actions. There are none for snippets. Mails them unless the mail of a note
 * already does. At most two statements.
 */
export async function addTodos(tx: Tx, noteable: Noteable, todos: readonly NewTodo[]): Promise<void> {
  const ofOthers = todos.filter(({ userId, authorId }) => userId !== authorId)
  if (ofOthers.length === 0 || !hasTodos(noteable.type)) return
  const added = await insertTodos(tx, noteable, ofOthers)
  const todoIds = added.filter((todo) => todo.note_id === null && isMailed(todo.action)).map(({ id }) => id)
  if (todoIds.length > 0) await enqueue(tx, mailTodosJob, { todoIds })
}

/** Marks the todos of a user who has just acted on a noteable as done. */
export async function finishTodos(tx: Tx, userId: number, noteable: Pick<Noteable, 'type' | 'id'>): Promise<void> {
  if (hasTodos(noteable.type)) await finishTodosOn(tx, userId, noteable)
}
