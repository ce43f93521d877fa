import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { tagAddress, tagAddressFields } from '../images/entity.ts'
import type { RepositoryRow } from '../images/queries.ts'
import { prefixed } from '../names/digests.ts'
import type { TagDetailRow, TagRow } from './queries.ts'

type Of<Row> = Row & { readonly repository: RepositoryRow }

export const RegistryTag = entity({
  name: 'RegistryTag',
  schema: Type.Object(tagAddressFields),
  present: (row: Of<TagRow>, { registry }) => tagAddress(registry.host, row.repository, row.name),
})

const shortLength = 9

export const RegistryTagDetail = entity({
  name: 'RegistryTagDetail',
  schema: Type.Object({
    ...tagAddressFields,
    revision: nullable(Type.String(), {
      description:
        'Digest of the configuration of the image, without algorithm; null for an image of several platforms',
    }),
    short_revision: nullable(Type.String(), { description: 'Beginning of `revision`' }),
    digest: Type.String({ description: 'Digest of the manifest, with algorithm' }),
    created_at: nullable(timestamp(), {
      description:
        'When the image was built, according to its configuration; of several platforms the last; null if it does not say',
    }),
    total_size: nullable(Type.Integer(), { description: 'Size of the layers in bytes; of all platforms together' }),
  }),
  present: (row: Of<TagDetailRow>, { registry }) => ({
    ...tagAddress(registry.host, row.repository, row.name),
    revision: row.config_digest,
    short_revision: row.config_digest?.slice(0, shortLength) ?? null,
    digest: prefixed(row.digest),
    created_at: row.image_created_at,
    total_size: row.total_size,
  }),
})
