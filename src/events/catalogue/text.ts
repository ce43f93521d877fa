import { Type } from 'typebox'
import type { Oid } from '../../git/format/oid.ts'
import { event, id, text } from './declare.ts'

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

/** Events of wikis. */
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
}
