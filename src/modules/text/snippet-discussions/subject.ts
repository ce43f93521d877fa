import { snippetPolicy } from '../../../access/snippet-policy.ts'
import { type Discussed, discussedSubject } from '../../discussion/index.ts'
import { touchSnippet } from '../snippets/queries.ts'
import { loadSnippet, type SnippetSubject, snippet } from '../snippets/subject.ts'

const discussed = (subject: SnippetSubject): Discussed => ({
  type: 'Snippet',
  id: subject.id,
  holder: { of: 'project', id: subject.project.id },
  iid: subject.id,
  title: subject.title,
  factsNow: async (now) => (await loadSnippet({ id: String(subject.project.id), snippet_id: subject.id }, now))?.facts,
  policy: snippetPolicy,
  touch: (tx) => touchSnippet(tx, subject.id),
})

/** Snippets of projects as the subject of endpoints for notes, discussions and awards. */
export const discussedSnippet = discussedSubject({
  type: 'Snippet',
  subject: snippet,
  path: '/projects/:id/snippets/:snippet_id',
  read: 'read_snippet',
  update: 'update_snippet',
  discussed,
})
