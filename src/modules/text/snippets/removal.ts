import type { Reaction } from '../../../events/reaction.ts'
import { countSizeOfSnippets, deletePersonalSnippets, deleteProjectSnippets } from './edit-queries.ts'

/**
 * Personal snippets end with their author, as personal projects do. Those of projects go to the placeholder account, or end, too, if all
 * contributions do.
 */
export const deleteSnippetsOfDeleted: Reaction<'user_deleted'> = async (
  tx,
  { payload: { user_id: userId, hard_delete: isHard } },
) => {
  await deletePersonalSnippets(tx, userId)
  if (!isHard) return
  for (const projectId of await deleteProjectSnippets(tx, userId)) await countSizeOfSnippets(tx, projectId)
}
