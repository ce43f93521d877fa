import { endpoint, unchanged, variants } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Optional, Params, Text } from '../../../api/params/types.ts'
import { requireVisiblePeople, userByIdOrName } from '../../accounts/index.ts'
import { ProjectSimple } from '../projects/basic-entity.ts'
import { Project } from '../projects/entity.ts'
import { projectsOfUser } from '../projects/list.ts'
import { projectListFilters } from '../projects/params.ts'
import { getRecord } from '../projects/service.ts'
import { project } from '../projects/subject.ts'
import { Starrer } from './entity.ts'
import { deleteStar, insertStar, starrerRow, starrersOf } from './queries.ts'

const { with_programming_language: _, id_after: __, id_before: ___, ...starredFilters } = projectListFilters

/** `change` returns whether it changed anything. */
const starring = (verb: 'star' | 'unstar', summary: string, already: string, change: typeof insertStar) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${verb}`,
    summary,
    subject: project,
    allow: 'star_project',
    params: Params({}),
    unchanged: already,
    returns: Project,
    async handle({ subject, ctx }) {
      const changed = await ctx.transaction(async (tx) => {
        const isChanged = await change(tx, ctx.actor!.id, subject.id)
        // It waits for changes of the account and the project.
        await tx.requirePermission?.()
        return isChanged
      })
      return changed ? getRecord(ctx, subject.id) : unchanged
    },
  })

export const starRoutes = [
  starring('star', 'Star a project', 'The caller has already starred the project', insertStar),
  starring('unstar', 'Unstar a project', 'The caller has not starred the project', deleteStar),

  endpoint({
    method: 'GET',
    path: '/projects/:id/starrers',
    summary: 'List starrers of a project',
    subject: project,
    allow: 'read_project',
    params: Params({ search: Optional(Text({ description: 'Part of the name or username' })) }),
    paged: true,
    returns: Starrer,
    async handle({ subject, params, page, ctx }) {
      requireVisiblePeople(ctx)
      return fetchPage(ctx.db, starrerRow, starrersOf(subject.id, ctx.actor, params.search), page)
    },
  }),

  endpoint({
    method: 'GET',
    path: '/users/:user_id/starred_projects',
    summary: 'List projects starred by a user',
    description: 'The list of a private profile is empty, except for the user and administrators.',
    subject: userByIdOrName,
    allow: 'read_user',
    params: Params(starredFilters),
    paged: true,
    returns: variants(Project, ProjectSimple),
    handle: ({ subject, params, page, ctx }) =>
      projectsOfUser(ctx, subject, { of: 'stars', userId: subject.id }, params, page),
  }),
]
