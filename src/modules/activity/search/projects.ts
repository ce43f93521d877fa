import type { Ctx } from '../../../api/ctx.ts'
import type { Page } from '../../../api/page.ts'
import type { GroupSubject } from '../../groups/index.ts'
import { type ProjectSet, ProjectSimple, projectsPage } from '../../projects/index.ts'
import type { SearchScope } from './scope.ts'

const found = (ctx: Ctx, set: ProjectSet, search: string, page: Page) =>
  projectsPage(ctx, set, { search, simple: true, with_custom_attributes: false, order_by: 'id', sort: 'desc' }, page)

/** Projects the caller can see, newest first. */
export const projectsOfAll: SearchScope<null> = {
  name: 'projects',
  returns: [ProjectSimple],
  find: ({ ctx, search, page }) => found(ctx, { of: 'everyone' }, search, page),
}

/** Projects of the group and of its subgroups. */
export const projectsInGroup: SearchScope<GroupSubject> = {
  name: 'projects',
  returns: [ProjectSimple],
  find({ ctx, within, search, page }) {
    const { id: groupId, traversal_ids: traversalIds } = within
    const set: ProjectSet = { of: 'group', groupId, traversalIds, shared: 'without', includeSubgroups: true }
    return found(ctx, set, search, page)
  },
}
