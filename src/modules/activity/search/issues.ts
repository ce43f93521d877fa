import type { Ctx } from '../../../api/ctx.ts'
import { as, type Variant } from '../../../api/endpoint.ts'
import type { Page } from '../../../api/page.ts'
import type { GroupSubject } from '../../groups/index.ts'
import { findIssues, Issue, type NoteablePlace, placeOfGroup, placeOfProject } from '../../planning/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import type { SearchScope } from './scope.ts'

const scope = { name: 'issues', returns: [Issue] } as const

/** Issues with the words in title or description, newest first. */
async function found(ctx: Ctx, place: NoteablePlace, text: string, page: Page): Promise<Variant> {
  const filters = { search: { text, in: ['title', 'description'] } } as const
  return as(Issue, await findIssues(ctx, place, { filters }, page))
}

export const issuesOfAll: SearchScope<null> = {
  ...scope,
  find: ({ ctx, search, page }) => found(ctx, { of: 'everyone' }, search, page),
}

export const issuesInGroup: SearchScope<GroupSubject> = {
  ...scope,
  find: ({ ctx, within, search, page }) => found(ctx, placeOfGroup(within), search, page),
}

export const issuesInProject: SearchScope<ProjectSubject> = {
  ...scope,
  allow: 'read_issue',
  find: ({ ctx, within, search, page }) => found(ctx, placeOfProject(within), search, page),
}
