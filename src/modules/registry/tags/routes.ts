import { endpoint, raw } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Filled, Id, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { getRepository } from '../images/subject.ts'
import { RegistryTag, RegistryTagDetail } from './entity.ts'
import { tagRow, tagsOf } from './queries.ts'
import { deleteTag, getTag, restoreTag, scheduleBulkDeletion } from './service.ts'

const repository_id = Id({ description: 'ID of the repository' })
const tag_name = Text({ description: 'Name of the tag' })
const path = '/projects/:id/registry/repositories/:repository_id/tags'

const scalar = (status: number) => ({ body: Buffer.from(String(status)), contentType: 'application/json' })

const pattern = (what: string) => `Regular expression (RE2) for ${what}, which must match the whole name`

export const registryTagRoutes = [
  endpoint({
    method: 'GET',
    path,
    summary: 'List tags of a container repository',
    description: 'By name.',
    subject: project,
    allow: 'read_container_image',
    params: Params({ repository_id }),
    paged: true,
    returns: RegistryTag,
    async handle({ subject, params, page, ctx }) {
      const repository = await getRepository(ctx, subject.id, params.repository_id)
      const found = await fetchPage(ctx.db, tagRow, tagsOf(repository.id), page)
      return { ...found, rows: found.rows.map((tag) => ({ ...tag, repository })) }
    },
  }),

  endpoint({
    method: 'DELETE',
    path,
    summary: 'Delete container tags in bulk',
    description:
      'A job deletes the tags that match, at most once an hour for a repository. It orders them by the time when the images were built, the newest first, and never deletes `latest`. Deleted tags can be restored for the days of the setting `container_registry_retention_days`.',
    subject: project,
    allow: 'admin_container_image',
    params: Params({
      repository_id,
      name_regex: Filled({
        description: `${pattern('tags to delete; `.*` for all')}. Optional with \`name_regex_delete\``,
        newerName: 'name_regex_delete',
      }),
      name_regex_delete: Optional(
        Filled({ description: pattern('tags to delete; takes precedence over `name_regex`') }),
      ),
      name_regex_keep: Optional(Filled({ description: pattern('tags that stay') })),
      keep_n: Optional(Whole({ minimum: 0, description: 'Number of newest matching tags that stay' })),
      older_than: Optional(
        Text({
          description: 'Delete tags of images that were built longer ago than this, such as `1h`, `1d` or `1month`',
        }),
      ),
    }),
    status: 202,
    returns: raw('application/json'),
    async handle({ subject, params: { repository_id: id, ...asked }, ctx }) {
      await scheduleBulkDeletion(ctx, await getRepository(ctx, subject.id, id), asked)
      return scalar(202)
    },
  }),

  endpoint({
    method: 'GET',
    path: `${path}/:tag_name`,
    summary: 'Get a container tag',
    subject: project,
    allow: 'read_container_image',
    params: Params({ repository_id, tag_name }),
    returns: RegistryTagDetail,
    async handle({ subject, params, ctx }) {
      const repository = await getRepository(ctx, subject.id, params.repository_id)
      return { ...(await getTag(ctx, repository, params.tag_name)), repository }
    },
  }),

  endpoint({
    method: 'DELETE',
    path: `${path}/:tag_name`,
    summary: 'Delete a container tag',
    description: 'Other tags of the image stay. Layers without an image are deleted later.',
    subject: project,
    allow: 'destroy_container_image',
    params: Params({ repository_id, tag_name }),
    status: 200,
    returns: raw('application/json'),
    async handle({ subject, params, ctx }) {
      await deleteTag(ctx, await getRepository(ctx, subject.id, params.repository_id), params.tag_name)
      return scalar(200)
    },
  }),

  endpoint({
    method: 'POST',
    path: `${path}/:tag_name/restore`,
    summary: 'Restore a container tag',
    description:
      'Makes the tag name again what it named before it was deleted or pushed, within the days of the setting `container_registry_retention_days`. Stithy only.',
    subject: project,
    allow: 'destroy_container_image',
    params: Params({
      repository_id,
      tag_name,
      digest: Optional(
        Text({
          description: 'Digest of the manifest that the tag named; required if the tag exists. Default: the last one',
        }),
      ),
    }),
    returns: RegistryTagDetail,
    async handle({ subject, params, ctx }) {
      const repository = await getRepository(ctx, subject.id, params.repository_id)
      return { ...(await restoreTag(ctx, repository, params.tag_name, params.digest)), repository }
    },
  }),
]
