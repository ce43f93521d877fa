import { featureLevels } from '../../../access/levels.ts'
import { Flag, OneOf, Optional } from '../../../api/params/types.ts'
import { integer, type RowOf } from '../../../db/row.ts'
import type { FieldViolations } from '../../../kernel/failure.ts'

const level = (what: string) =>
  Optional(OneOf(['disabled', 'private', 'enabled'], { description: `Who may use ${what}` }))
const flag = (what: string) =>
  Optional(Flag({ description: `${what}: deprecated form of the access level`, deprecated: true }))

/** Feature parameters of a project: the access level, and the older form that only enables or disables. */
export const featureParams = {
  issues_access_level: level('issues'),
  repository_access_level: level('the repository'),
  merge_requests_access_level: level('merge requests'),
  builds_access_level: level('pipelines'),
  wiki_access_level: level('the wiki'),
  snippets_access_level: level('snippets'),
  container_registry_access_level: level('the container registry'),
  forking_access_level: level('forks'),
  pages_access_level: Optional(
    OneOf(['disabled', 'private', 'enabled', 'public'], { description: 'Who may see pages' }),
  ),
  issues_enabled: flag('Issues'),
  merge_requests_enabled: flag('Merge requests'),
  jobs_enabled: flag('Pipelines'),
  wiki_enabled: flag('Wiki'),
  snippets_enabled: flag('Snippets'),
  container_registry_enabled: flag('Container registry'),
} as const

export type FeatureColumn =
  | 'issues_access_level'
  | 'repository_access_level'
  | 'merge_requests_access_level'
  | 'builds_access_level'
  | 'wiki_access_level'
  | 'snippets_access_level'
  | 'container_registry_access_level'
  | 'forking_access_level'
  | 'pages_access_level'

export const featureLevelsRow = {
  issues_access_level: integer,
  repository_access_level: integer,
  merge_requests_access_level: integer,
  builds_access_level: integer,
  wiki_access_level: integer,
  snippets_access_level: integer,
  container_registry_access_level: integer,
  forking_access_level: integer,
  pages_access_level: integer,
} satisfies Record<FeatureColumn, unknown>
export type FeatureLevels = RowOf<typeof featureLevelsRow>

/** All features, in the order in which archives have them. */
export const featureColumns = Object.keys(featureLevelsRow) as readonly FeatureColumn[]

/** The column that the older form of each parameter changes. */
export const olderForms: Readonly<Record<string, FeatureColumn>> = {
  issues_enabled: 'issues_access_level',
  merge_requests_enabled: 'merge_requests_access_level',
  jobs_enabled: 'builds_access_level',
  wiki_enabled: 'wiki_access_level',
  snippets_enabled: 'snippets_access_level',
  container_registry_enabled: 'container_registry_access_level',
}

/** Access levels from the parameters; the newer form takes precedence. */
export function featuresAmong(params: Readonly<Record<string, unknown>>): Partial<FeatureLevels> {
  const levels: Partial<FeatureLevels> = {}
  for (const [older, column] of Object.entries(olderForms))
    if (params[older] !== undefined) levels[column] = params[older] ? featureLevels.enabled : featureLevels.disabled
  for (const column of featureColumns) {
    const named = params[column] as keyof typeof featureLevels | undefined
    if (named !== undefined) levels[column] = featureLevels[named]
  }
  return levels
}

const wider = 'cannot have higher visibility level than repository access level'

/** Merge requests and pipelines need the repository, so their access level must not exceed its level. */
export function featureViolations(levels: FeatureLevels): FieldViolations {
  const violations: Record<string, string[]> = {}
  for (const column of ['merge_requests_access_level', 'builds_access_level'] as const)
    if (levels[column] > levels.repository_access_level) violations[column] = [wider]
  return violations
}

/** `pages` follows the visibility unless it is set. */
export const newFeatures = (isPrivate: boolean): FeatureLevels => ({
  issues_access_level: featureLevels.enabled,
  repository_access_level: featureLevels.enabled,
  merge_requests_access_level: featureLevels.enabled,
  builds_access_level: featureLevels.enabled,
  wiki_access_level: featureLevels.enabled,
  snippets_access_level: featureLevels.enabled,
  container_registry_access_level: featureLevels.enabled,
  forking_access_level: featureLevels.enabled,
  pages_access_level: isPrivate ? featureLevels.private : featureLevels.enabled,
})
