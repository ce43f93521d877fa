import type { Reaction } from '../../../events/reaction.ts'
import { insertTodos } from '../../discussion/index.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { openWithPipeline } from './waiting-queries.ts'

/**
 * Adds a todo when the pipeline of the head of an open merge request fails: for the author, and for the user who enabled the automatic
 * merge, also if they caused it.
 */
export const notifyOfFailedPipeline: Reaction<'pipeline_changed'> = async (tx, { payload }) => {
  if (payload.status !== 'failed') return
  for (const row of await openWithPipeline(tx, payload.pipeline_id)) {
    const people = new Set([row.author_id, ...(row.auto_merge_user_id === null ? [] : [row.auto_merge_user_id])])
    const todos = [...people].map((userId) => ({ userId, authorId: row.author_id, action: 'build_failed' as const }))
    await insertTodos(tx, asNoteable(row), todos)
  }
}
