import { beforeAll, describe, expect, test } from 'vitest'
import { raw } from '../../../../src/db/sql.ts'
import { notesWith } from '../../../../src/modules/discussion/notes/search-queries.ts'
import { listIssues } from '../../../../src/modules/planning/issue-lists/queries.ts'
import { listMergeRequests } from '../../../../src/modules/review/reading/list-queries.ts'
import { signedIn } from '../../callers.ts'
import { maximumReads } from '../../limits.ts'
import { newest, projects } from '../../lists.ts'
import { searchedPage } from '../../pages.ts'
import { addComments, searchesOfComments } from './comments.ts'
import { searchesOfNoteables } from './noteables.ts'
import { searchesOfProjectsAndGroups } from './projects-and-groups.ts'

export function searches(): void {
  describe.each(signedIn)('a search by %s', (_, caller) => {
    beforeAll(addComments)

    searchesOfComments(caller)
    searchesOfNoteables(caller)
    searchesOfProjectsAndGroups(caller)

    test('for a text of two characters looks it up in the index', async () => {
      for (const text of ['wh', 'Wh', 'a%', 'is'])
        for (const list of [
          notesWith(caller, text, raw('true'), 'everywhere'),
          listIssues(caller, { of: 'everyone' }, { search: { text, in: ['title', 'description'] } }, newest),
          listMergeRequests(caller, { of: 'everyone' }, { search: { text, in: ['title'] } }, newest),
          projects(caller, { search: text }),
        ])
          expect(await (await searchedPage(list, 1)).reads()).toBeLessThan(maximumReads)
    })
  })
}
