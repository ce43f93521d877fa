import type { Tx } from '../../../db/db.ts'
import { enqueue } from '../../../jobs/job.ts'
import { tellOfTodos } from '../subscriptions/jobs.ts'
import { isMailed } from '../subscriptions/mails.ts'
import { finishTodosOn, insertTodos, type NewTodo } from './queries.ts'

/**
 * Puts a merge request on the lists of people, unless it is there already; nobody is told of what he did himself. What is not told
 * with a note is told by mail, too. At most two statements.
 */
export async function addTodos(tx: Tx, todos: readonly NewTodo[]): Promise<void> {
  const told = todos.filter(({ userId, authorId }) => userId !== authorId)
  if (told.length === 0) return
  const added = await insertTodos(tx, told)
  const todoIds = added.filter((todo) => todo.note_id === null && isMailed(todo.action)).map(({ id }) => id)
  if (todoIds.length > 0) await enqueue(tx, tellOfTodos, { todoIds })
}

/** Takes a merge request from the list of somebody who just acted on it. */
export async function finishTodos(tx: Tx, userId: number, mergeRequestId: number): Promise<void> {
  await finishTodosOn(tx, userId, mergeRequestId)
}
