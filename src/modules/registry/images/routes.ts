import { endpoint, raw } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Flag, Id, Optional, Params } from '../../../api/params/types.ts'
import { group } from '../../groups/index.ts'
import { project } from '../../projects/index.ts'
import { RegistryRepository } from './entity.ts'
import { deletedRepositoriesOf, repositoriesBelow, repositoriesOf, repositoryRow } from './queries.ts'
import { removeRepository, restoreRepository } from './service.ts'
import { getRepository, projectAround, requireRegistry } from './subject.ts'

const tags = Optional(Flag({ description: 'Include the tags' }))
const tags_count = Optional(Flag({ description: 'Include the number of tags' }))
const repository_id = Id({ description: 'ID of the repository' })

/** What the lists of repositories declare. */
const listed = { params: Params({ tags, tags_count }), paged: true, returns: RegistryRepository } as const

const accepted = { body: Buffer.from('202'), contentType: 'application/json' }

export const registryRepositoryRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/registry/repositories',
    summary: 'List container repositories of a project',
    description: 'By name.',
    subject: project,
    allow: 'read_container_image',
    ...listed,
    handle({ subject, params, page, ctx }) {
      requireRegistry(ctx)
      return fetchPage(ctx.db, repositoryRow, repositoriesOf(subject.id, params), page)
    },
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/registry/repositories',
    summary: 'List container repositories of a group',
    description: 'Those of all projects below the group whose images the caller may read, by name.',
    subject: group,
    allow: 'list_container_images',
    ...listed,
    handle({ subject, params, page, ctx }) {
      requireRegistry(ctx)
      return fetchPage(ctx.db, repositoryRow, repositoriesBelow(ctx.actor, subject.id, params), page)
    },
  }),

  endpoint({
    method: 'GET',
    path: '/registry/repositories/:id',
    summary: 'Get a container repository',
    subject: projectAround,
    allow: 'read_container_image',
    params: Params({ tags, tags_count }),
    returns: RegistryRepository,
    handle: ({ subject, params, ctx }) => getRepository(ctx, subject.id, subject.repositoryId, params),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/registry/repositories/:repository_id',
    summary: 'Delete a container repository',
    description:
      'A job deletes it; lists show it until then. It can be restored for the days of the setting `container_registry_retention_days`.',
    subject: project,
    allow: 'admin_container_image',
    params: Params({ repository_id }),
    status: 202,
    returns: raw('application/json'),
    async handle({ subject, params, ctx }) {
      await removeRepository(ctx, await getRepository(ctx, subject.id, params.repository_id))
      return accepted
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/registry/deleted_repositories',
    summary: 'List deleted container repositories',
    description: 'Those that can be restored, the last deleted first. Stithy only.',
    subject: project,
    allow: 'admin_container_image',
    ...listed,
    handle({ subject, params, page, ctx }) {
      requireRegistry(ctx)
      const days = ctx.settings.container_registry_retention_days
      return fetchPage(ctx.db, repositoryRow, deletedRepositoriesOf(subject.id, params, days), page)
    },
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/registry/repositories/:repository_id/restore',
    summary: 'Restore a container repository',
    description: 'Brings a deleted repository back with its tags, unless its name is in use again. Stithy only.',
    subject: project,
    allow: 'admin_container_image',
    params: Params({ repository_id }),
    returns: RegistryRepository,
    handle({ subject, params, ctx }) {
      requireRegistry(ctx)
      return restoreRepository(ctx, subject.id, params.repository_id)
    },
  }),
]
