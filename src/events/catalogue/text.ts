import { Type } from 'typebox'
import type { Oid } from '../../git/format/oid.ts'
import { event, id, optional, text, texts } from './declare.ts'

const page = {
  payload: {
    wiki_page_id: id,
    side_repository_id: id,
    push_id: id,
    /** The commit that has the page at its path: the new one, or the one before a deletion. */
    commit: Type.Unsafe<Oid>(Type.String()),
    path: text,
  },
}

/** `user_id` is the author, `changed` has names of attributes. Personal snippets have no project. */
const snippet = { payload: { snippet_id: id, user_id: id, changed: optional(texts) } }

/** Events of wikis and snippets. */
export const textEvents = {
  wiki_page_created: event('A wiki page is created, by a request or a push', ['project', 'group'], {
    ...page,
    feed: { action: 'created' },
  }),
  wiki_page_updated: event('A wiki page changes or is renamed, by a request or a push', ['project', 'group'], {
    ...page,
    feed: { action: 'updated' },
  }),
  wiki_page_deleted: event('A wiki page is deleted, by a request or a push', ['project', 'group'], {
    ...page,
    feed: { action: 'destroyed' },
  }),
  snippet_created: event('A snippet is created', ['project', 'user'], { ...snippet, feed: { action: 'created' } }),
  snippet_updated: event(
    'Attributes or files of a snippet change, through the API or by a push',
    ['project', 'user'],
    snippet,
  ),
  snippet_deleted: event('A snippet is deleted', ['project', 'user'], snippet),
}
