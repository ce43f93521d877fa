import type { Reaction } from '../../../events/reaction.ts'
import { deletePersonalSnippets } from './edit-queries.ts'

/** Personal snippets end with their author, as personal projects do. Those of projects go to the placeholder account. */
export const deleteSnippetsOfDeleted: Reaction<'user_deleted'> = (tx, { payload: { user_id: userId } }) =>
  deletePersonalSnippets(tx, userId)
