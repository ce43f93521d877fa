import { as } from '../../../api/endpoint.ts'
import type { List } from '../../../api/list.ts'
import { fetchPage } from '../../../api/page.ts'
import { listUsers, UserListItem, userRow } from '../../accounts/index.ts'
import type { GroupSubject } from '../../groups/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { peopleAround, peopleOf } from './queries.ts'
import type { Search, SearchScope } from './scope.ts'

/** Users by name and user name, or by complete e-mail address; best match first. */
const people = <Within>(among: (asked: Search<Within>) => List['where']): SearchScope<Within> => ({
  name: 'users',
  returns: [UserListItem],
  async find(asked) {
    const list = listUsers({ search: asked.search })
    const narrowed = { ...list, where: [...list.where, ...among(asked)] }
    return as(UserListItem, await fetchPage(asked.ctx.db, userRow, narrowed, asked.page))
  },
})

export const peopleOfAll = people<null>(() => [])

/** Members of the group and of the groups above and below it that the caller can see. */
export const peopleInGroup = people<GroupSubject>(({ ctx, within }) => [peopleAround(ctx.actor, within.traversal_ids)])

/** Users with a level in the project. */
export const peopleInProject: SearchScope<ProjectSubject> = {
  ...people<ProjectSubject>(({ within }) => [peopleOf(within.id, within.namespace_id)]),
  allow: 'read_member',
}
