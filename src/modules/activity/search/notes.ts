import { as } from '../../../api/endpoint.ts'
import type { List } from '../../../api/list.ts'
import { fetchFoundNotes, Note, notesWith, type SearchedNotes } from '../../discussion/index.ts'
import { type GroupSubject, projectsIn } from '../../groups/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { everywhere } from './queries.ts'
import type { SearchScope } from './scope.ts'

/** Comments on issues and merge requests that the caller may read, newest first. */
const notes = <Within>(
  place: SearchedNotes,
  inside: (within: Within) => List['where'][number],
): SearchScope<Within> => ({
  name: 'notes',
  returns: [Note],
  find: async ({ ctx, within, search, page }) =>
    as(Note, await fetchFoundNotes(ctx.db, notesWith(ctx.actor, search, inside(within), place), page)),
})

export const notesOfAll = notes<null>('everywhere', () => everywhere)
export const notesInGroup = notes<GroupSubject>('group', ({ id }) => projectsIn({ of: 'group', id }))
export const notesInProject = notes<ProjectSubject>('project', ({ id }) => projectsIn({ of: 'project', id }))
