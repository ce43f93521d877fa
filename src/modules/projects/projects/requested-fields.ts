import { Type } from 'typebox'
import { described, nullable } from '../../../api/schema.ts'
import type { Site } from '../../../api/site.ts'
import { customAttributes } from '../../accounts/index.ts'
import { blobUrl } from './basic-entity.ts'
import { licenseOf } from './licenses.ts'
import type { ProjectRecordRow, ProjectStatistics } from './record-queries.ts'
import { nullableText } from './setting-fields.ts'

const statistics = Type.Object(
  {
    commit_count: Type.Integer({ description: 'Number of commits on the default branch' }),
    storage_size: Type.Integer({ description: 'Total in bytes' }),
    repository_size: Type.Integer({ description: 'Repository in bytes' }),
    wiki_size: Type.Integer({ description: 'Wiki in bytes' }),
    snippets_size: Type.Integer({ description: 'Files of its snippets in bytes' }),
    lfs_objects_size: Type.Integer({ description: 'Git LFS objects in bytes' }),
    job_artifacts_size: Type.Integer({ description: 'Job artifacts in bytes' }),
    packages_size: Type.Integer({ description: 'Packages in bytes' }),
    container_registry_size: Type.Integer({
      description: 'Layers of container images in bytes; not part of `storage_size`',
    }),
  },
  { title: 'ProjectStatistics' },
)
const statisticsOf = (row: ProjectStatistics) => ({
  commit_count: row.commit_count,
  storage_size:
    row.repository_size +
    row.wiki_size +
    row.snippets_size +
    row.lfs_objects_size +
    row.job_artifacts_size +
    row.packages_size,
  repository_size: row.repository_size,
  wiki_size: row.wiki_size,
  snippets_size: row.snippets_size,
  lfs_objects_size: row.lfs_objects_size,
  job_artifacts_size: row.job_artifacts_size,
  packages_size: row.packages_size,
  container_registry_size: row.container_registry_size,
})

/** What a request asks for by a parameter. */
export const requestedFields = {
  license_url: Type.Optional(nullable(Type.String({ description: 'Present with `license=true`' }))),
  license: Type.Optional(
    nullable(
      Type.Object(
        {
          key: Type.String({ description: 'Key of the license, such as `mit`' }),
          name: Type.String({ description: 'Name of the license' }),
          nickname: described(nullableText, 'Short name; null if there is none'),
          html_url: described(nullableText, 'URL of a page about the license; null if there is none'),
          source_url: described(nullableText, 'URL of the license text; null if there is none'),
        },
        { title: 'ProjectLicense' },
      ),
      { description: 'License of the code, present with `license=true`; null if none is recognized' },
    ),
  ),
  statistics: Type.Optional(nullable(statistics, { description: 'Present with `statistics=true`, for reporters' })),
  custom_attributes: customAttributes,
}

type Requested = ProjectRecordRow & { readonly withLicense?: boolean }

export const requestedOf = (
  row: Requested,
  site: Site,
  { readsCode, readsStatistics }: { readonly readsCode: boolean; readonly readsStatistics: boolean },
) => ({
  ...(row.withLicense && {
    license_url: readsCode ? blobUrl(site, row.full_path, row.default_branch, row.license_path) : null,
    license: readsCode && row.license_key !== null ? licenseOf(row.license_key) : null,
  }),
  ...(row.statistics !== undefined &&
    readsStatistics && {
      statistics: row.statistics && statisticsOf(row.statistics),
    }),
  ...(row.custom_attributes && { custom_attributes: row.custom_attributes }),
})
