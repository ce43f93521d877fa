import type { Ctx } from '../../../api/ctx.ts'
import { as, type Variant } from '../../../api/endpoint.ts'
import type { Page } from '../../../api/page.ts'
import type { Within } from '../../discussion/index.ts'
import type { GroupSubject } from '../../groups/index.ts'
import { findIssues, Issue, type NoteableSet } from '../../planning/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import type { SearchScope } from './scope.ts'

const scope = { name: 'issues', returns: [Issue] } as const

/** Issues with the words in title or description, newest first. */
async function found(ctx: Ctx, set: NoteableSet, within: Within, text: string, page: Page): Promise<Variant> {
  const filters = { search: { text, in: ['title', 'description'] } } as const
  return as(Issue, await findIssues(ctx, set, within, { filters }, page))
}

export const issuesOfAll: SearchScope<null> = {
  ...scope,
  find: ({ ctx, search, page }) => found(ctx, { of: 'everyone' }, { of: 'all' }, search, page),
}

export const issuesInGroup: SearchScope<GroupSubject> = {
  ...scope,
  find({ ctx, within, search, page }) {
    const { full_path, traversal_ids: traversalIds } = within
    return found(ctx, { of: 'group', traversalIds, archived: true }, { of: 'group', full_path }, search, page)
  },
}

export const issuesInProject: SearchScope<ProjectSubject> = {
  ...scope,
  allow: 'read_issue',
  find({ ctx, within: { id, full_path }, search, page }) {
    return found(ctx, { of: 'project', id }, { of: 'project', id, full_path }, search, page)
  },
}
