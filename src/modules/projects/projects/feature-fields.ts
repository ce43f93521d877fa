import { Type } from 'typebox'
import { featureLevelName } from '../../../access/levels.ts'
import { described } from '../../../api/schema.ts'
import type { ProjectRecordRow } from './record-queries.ts'

const featureLevel = Type.String({ enum: ['disabled', 'private', 'enabled'] })

/** Which features of the project there are, and for whom. */
export const featureFields = {
  issues_enabled: Type.Boolean({ description: 'True if issues are available to the caller' }),
  merge_requests_enabled: Type.Boolean({ description: 'True if merge requests are available to the caller' }),
  jobs_enabled: Type.Boolean({ description: 'True if CI/CD is available to the caller' }),
  wiki_enabled: Type.Boolean({ description: 'True if the wiki is available to the caller' }),
  snippets_enabled: Type.Boolean({ description: 'True if snippets are available to the caller' }),
  container_registry_enabled: Type.Boolean({
    description: 'True if the container registry is available to the caller',
  }),
  issues_access_level: described(featureLevel, 'Who may use issues'),
  repository_access_level: described(featureLevel, 'Who may use the repository'),
  merge_requests_access_level: described(featureLevel, 'Who may use merge requests'),
  builds_access_level: described(featureLevel, 'Who may use CI/CD'),
  wiki_access_level: described(featureLevel, 'Who may use the wiki'),
  snippets_access_level: described(featureLevel, 'Who may use snippets'),
  container_registry_access_level: described(featureLevel, 'Who may use the container registry'),
  forking_access_level: described(featureLevel, 'Who may fork the project'),
  pages_access_level: Type.String({
    description: 'Who may see the pages site; `public` for everyone',
    enum: ['disabled', 'private', 'enabled', 'public'],
  }),
}

/** `on` says whether the caller may use a feature. */
export const featuresOf = (row: ProjectRecordRow, on: (feature: string) => boolean) => ({
  issues_enabled: on('issues'),
  merge_requests_enabled: on('merge_requests'),
  jobs_enabled: on('builds'),
  wiki_enabled: on('wiki'),
  snippets_enabled: on('snippets'),
  container_registry_enabled: on('container_registry'),
  issues_access_level: featureLevelName(row.issues_access_level),
  repository_access_level: featureLevelName(row.repository_access_level),
  merge_requests_access_level: featureLevelName(row.merge_requests_access_level),
  builds_access_level: featureLevelName(row.builds_access_level),
  wiki_access_level: featureLevelName(row.wiki_access_level),
  snippets_access_level: featureLevelName(row.snippets_access_level),
  container_registry_access_level: featureLevelName(row.container_registry_access_level),
  forking_access_level: featureLevelName(row.forking_access_level),
  pages_access_level: featureLevelName(row.pages_access_level),
})
