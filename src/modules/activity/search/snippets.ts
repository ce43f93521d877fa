import type { Caller } from '../../../access/actor.ts'
import { as } from '../../../api/endpoint.ts'
import type { List } from '../../../api/list.ts'
import { fetchPage } from '../../../api/page.ts'
import { projectsIn } from '../../groups/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { Snippet, snippetRow, snippetsContaining, snippetsTitled } from '../../text/index.ts'
import { everywhere } from './queries.ts'
import type { SearchScope } from './scope.ts'

type Found = (caller: Caller, search: string, within: List['where'][number]) => List

/** Snippets that the caller may read, newest first. */
const snippets = <Within>(
  name: string,
  found: Found,
  inside: (within: Within) => List['where'][number],
): SearchScope<Within> => ({
  name,
  returns: [Snippet],
  find: async ({ ctx, within, search, page }) =>
    as(Snippet, await fetchPage(ctx.db, snippetRow, found(ctx.actor, search, inside(within)), page)),
})

const inProject = ({ id }: ProjectSubject) => projectsIn({ of: 'project', id })

/** By title, description and the name of the first file; personal snippets and those of projects. */
export const snippetTitlesOfAll = snippets<null>('snippet_titles', snippetsTitled, () => everywhere)
export const snippetsInProject: SearchScope<ProjectSubject> = {
  ...snippets<ProjectSubject>('snippets', snippetsTitled, inProject),
  allow: 'read_snippet',
}

/** By a text in their files. */
export const snippetBlobsOfAll = snippets<null>('snippet_blobs', snippetsContaining, () => everywhere)
export const snippetBlobsInProject: SearchScope<ProjectSubject> = {
  ...snippets<ProjectSubject>('snippet_blobs', snippetsContaining, inProject),
  allow: 'read_snippet',
}
