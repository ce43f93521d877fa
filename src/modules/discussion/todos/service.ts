import { randomUUID } from 'node:crypto'
import type { Tx } from '../../../db/db.ts'
import { enqueue } from '../../../jobs/job.ts'
import { hasTodos } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { mailNamedUsersJob } from '../subscriptions/jobs.ts'
import { isMailed } from '../subscriptions/mails.ts'
import type { Named } from '../subscriptions/recipient-queries.ts'
import { finishTodosOn, insertTodos, type NewTodo, renewTodos } from './queries.ts'

/**
 * Adds todos for a noteable to users who have none for it, except for their own actions. There are none for snippets. Mails them unless the mail of a note
 * already does; a pending todo of an earlier change is renewed and mailed again. One change mails a user once. At most three statements.
 */
export async function addTodos(tx: Tx, noteable: Noteable, todos: readonly NewTodo[]): Promise<void> {
  const ofOthers = todos.filter(({ userId, authorId }) => userId !== authorId)
  if (ofOthers.length === 0 || !hasTodos(noteable.type)) return
  const added = await insertTodos(tx, noteable, ofOthers)
  const named = new Map<number, Named>()
  for (const { userId, authorId, action, noteId } of ofOthers)
    if (noteId === undefined && isMailed(action) && !named.has(userId)) named.set(userId, { userId, authorId, action })
  const mailed = new Set(added.map(({ user_id }) => user_id))
  const others = [...named.keys()].filter((id) => !mailed.has(id))
  if (others.length > 0) for (const id of await renewTodos(tx, noteable, others)) mailed.add(id)
  const users = [...named.values()].filter(({ userId }) => mailed.has(userId))
  if (users.length === 0) return
  await enqueue(tx, mailNamedUsersJob, { type: noteable.type, id: noteable.id, users, cause: randomUUID() })
}

/** Marks the todos of a user who has just acted on a noteable as done. */
export async function finishTodos(tx: Tx, userId: number, noteable: Pick<Noteable, 'type' | 'id'>): Promise<void> {
  if (hasTodos(noteable.type)) await finishTodosOn(tx, userId, noteable)
}
