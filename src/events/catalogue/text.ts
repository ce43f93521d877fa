import { event, id, optional, texts } from './declare.ts'

/** `user_id` is the author, `changed` has names of attributes. Personal snippets have no project. */
const snippet = { payload: { snippet_id: id, user_id: id, changed: optional(texts) } }

/** Events of snippets. */
export const textEvents = {
  snippet_created: event('A snippet is created', ['project', 'user'], { ...snippet, feed: { action: 'created' } }),
  snippet_updated: event(
    'Attributes or files of a snippet change, through the API or by a push',
    ['project', 'user'],
    snippet,
  ),
  snippet_deleted: event('A snippet is deleted', ['project', 'user'], snippet),
}
