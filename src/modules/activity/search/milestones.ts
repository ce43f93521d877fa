import { as } from '../../../api/endpoint.ts'
import type { List } from '../../../api/list.ts'
import { fetchPage } from '../../../api/page.ts'
import { type GroupSubject, projectsIn } from '../../groups/index.ts'
import { datedMilestoneRow, Milestone, milestonesWith } from '../../planning/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { everywhere, milestonesBelow } from './queries.ts'
import type { SearchScope } from './scope.ts'

/** Milestones with the words in title or description, newest first. */
const milestones = <Within>(inside: (within: Within) => List['where'][number]): SearchScope<Within> => ({
  name: 'milestones',
  returns: [Milestone],
  find: async ({ ctx, within, search, page }) =>
    as(Milestone, await fetchPage(ctx.db, datedMilestoneRow, milestonesWith(ctx.actor, search, inside(within)), page)),
})

export const milestonesOfAll = milestones<null>(() => everywhere)

/** Those of the group, of its subgroups, and of their projects. */
export const milestonesInGroup = milestones<GroupSubject>(({ traversal_ids }) => milestonesBelow(traversal_ids))

export const milestonesInProject: SearchScope<ProjectSubject> = {
  ...milestones<ProjectSubject>(({ id }) => projectsIn({ of: 'project', id })),
  allow: 'read_milestone',
}
