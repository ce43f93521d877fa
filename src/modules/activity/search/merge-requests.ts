import type { Ctx } from '../../../api/ctx.ts'
import { as, type Variant } from '../../../api/endpoint.ts'
import type { Page } from '../../../api/page.ts'
import type { GroupSubject } from '../../groups/index.ts'
import { type NoteablePlace, placeOfGroup, placeOfProject } from '../../planning/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { findMergeRequests, MergeRequest } from '../../review/index.ts'
import type { SearchScope } from './scope.ts'

const scope = { name: 'merge_requests', returns: [MergeRequest] } as const

/** Merge requests with the words in title or description, newest first. */
async function found(ctx: Ctx, place: NoteablePlace, text: string, page: Page): Promise<Variant> {
  const filters = { search: { text, in: ['title', 'description'] } } as const
  const asked = { filters, order: { by: 'created_at', sort: 'desc' } } as const
  return as(MergeRequest, await findMergeRequests(ctx, place, asked, page))
}

export const mergeRequestsOfAll: SearchScope<null> = {
  ...scope,
  find: ({ ctx, search, page }) => found(ctx, { of: 'everyone' }, search, page),
}

export const mergeRequestsInGroup: SearchScope<GroupSubject> = {
  ...scope,
  find: ({ ctx, within, search, page }) => found(ctx, placeOfGroup(within), search, page),
}

export const mergeRequestsInProject: SearchScope<ProjectSubject> = {
  ...scope,
  allow: 'read_merge_request',
  find: ({ ctx, within, search, page }) => found(ctx, placeOfProject(within), search, page),
}
