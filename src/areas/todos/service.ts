import type { Tx } from '../../db/db.ts'
import { finishTodosOn, insertTodos, type NewTodo } from './queries.ts'

/** Puts a merge request on somebody's list, unless it is there already. Of what he did himself he is told only when he asks. */
export const addTodo = (tx: Tx, todo: NewTodo): Promise<void> => addTodos(tx, [todo])

/** The same for several people, in one statement. */
export async function addTodos(tx: Tx, todos: readonly NewTodo[]): Promise<void> {
  const told = todos.filter(({ userId, authorId, action }) => userId !== authorId || action === 'marked')
  if (told.length > 0) await insertTodos(tx, told)
}

/** Takes a merge request from the list of somebody who just acted on it. */
export async function finishTodos(tx: Tx, userId: number, mergeRequestId: number): Promise<void> {
  await finishTodosOn(tx, userId, mergeRequestId)
}
