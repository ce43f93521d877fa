import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { timestamp } from '../../../api/schema.ts'
import { pathOf } from '../names/names.ts'
import type { RepositoryRow } from './queries.ts'

/** What `tagAddress` returns. */
export const tagAddressFields = {
  name: Type.String({ description: 'Name of the tag' }),
  path: Type.String({ description: 'Path of the image with the tag' }),
  location: Type.String({ description: 'Reference of the image for clients, with the host of the registry' }),
}

const tag = Type.Object(tagAddressFields, { title: 'RegistryTagReference' })

/** How a tag of a repository is addressed. */
export const tagAddress = (host: string | undefined, { full_path, name }: RepositoryRow, tagName: string) => {
  const path = `${pathOf(full_path, name)}:${tagName}`
  return { name: tagName, path, location: `${host}/${path}` }
}

export const RegistryRepository = entity({
  name: 'RegistryRepository',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the repository' }),
    name: Type.String({ description: 'What follows the path of the project; empty for the image at that path' }),
    path: Type.String({ description: 'Path of the image, in lower case' }),
    project_id: Type.Integer({ description: 'ID of the project' }),
    location: Type.String({ description: 'Reference of the image for clients, with the host of the registry' }),
    created_at: timestamp('When something was first pushed to it'),
    status: Type.Union([Type.String({ enum: ['delete_scheduled'] }), Type.Null()], {
      description: '`delete_scheduled` if a job is about to delete it; otherwise null',
    }),
    tags_count: Type.Optional(Type.Integer({ description: 'Number of tags; present with `tags_count=true`' })),
    tags: Type.Optional(Type.Array(tag, { description: 'Tags by name, at most 1,000; present with `tags=true`' })),
  }),
  present(row: RepositoryRow, { registry }) {
    const path = pathOf(row.full_path, row.name)
    return {
      id: row.id,
      name: row.name,
      path,
      project_id: row.project_id,
      location: `${registry.host}/${path}`,
      created_at: row.created_at,
      status: row.deleting ? 'delete_scheduled' : null,
      ...(row.tags_count !== undefined && { tags_count: row.tags_count }),
      ...(row.tag_names && { tags: row.tag_names.map((name) => tagAddress(registry.host, row, name)) }),
    }
  },
})
