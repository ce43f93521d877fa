import { memberLevels } from '../../../access/levels.ts'
import {
  CommaList,
  File,
  Flag,
  Hash,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
  Whole,
} from '../../../api/params/types.ts'
import { cleanupPolicyParams } from './cleanup-policy.ts'
import { featureParams } from './features.ts'
import { settingAliases, settingParams } from './settings.ts'

/** Ids have 64 bits in the database; on the wire they are numbers. */
export const projectIds = { maximum: Number.MAX_SAFE_INTEGER }

/** Filters of every list of projects. */
export const projectFilters = {
  archived: Optional(Flag({ description: 'Only archived projects (true) or only others (false)' })),
  visibility: Optional(OneOf(['public', 'internal', 'private'], { description: 'Only of this visibility' })),
  order_by: OneOf(['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'], {
    default: 'created_at',
    description: 'Field to order by',
  }),
  sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction: ascending or descending' }),
  search: Optional(Text({ description: 'Search terms in the path, name or description' })),
  topic: Optional(CommaList(Text(), { maxItems: 100, description: 'Only with all of these topics, in any case' })),
  last_activity_after: Optional(Timestamp({ description: 'Last activity at or after this time' })),
  last_activity_before: Optional(Timestamp({ description: 'Last activity at or before this time' })),
  updated_after: Optional(Timestamp({ description: 'Updated at or after this time' })),
  updated_before: Optional(Timestamp({ description: 'Updated at or before this time' })),
  simple: Flag({ default: false, description: 'Return simple records' }),
  owned: Flag({ default: false, description: 'Only those that the caller owns' }),
  starred: Flag({ default: false, description: 'Only projects that the caller starred' }),
  with_issues_enabled: Flag({ default: false, description: 'Issues are enabled' }),
  with_merge_requests_enabled: Flag({ default: false, description: 'Only with merge requests enabled' }),
  min_access_level: Optional(OneOf(memberLevels, { levels: true, description: 'Minimum access level of the caller' })),
  with_custom_attributes: Flag({ default: false, description: 'Include custom attributes; for administrators' }),
} as const

export const projectListFilters = {
  ...projectFilters,
  membership: Flag({ default: false, description: 'Only those of which the caller is a member' }),
  statistics: Flag({ default: false, description: 'Include `statistics`, for users who may see them' }),
  with_programming_language: Optional(Text({ description: 'Only with this programming language' })),
  id_after: Optional(Whole({ ...projectIds, description: 'Only IDs greater than this' })),
  id_before: Optional(Whole({ ...projectIds, description: 'Only IDs less than this' })),
  custom_attributes: Optional(
    Hash(Text(), { maxProperties: 100, description: 'Only with these custom attributes; for administrators' }),
  ),
  repository_checksum_failed: Flag({
    default: false,
    tier: 'premium',
    description: 'Only projects whose last repository check failed',
  }),
  wiki_checksum_failed: Flag({
    default: false,
    tier: 'premium',
    description: 'Only projects whose last wiki check failed',
  }),
} as const

/** Attributes for both create and edit. */
export const writeParams = {
  name: Optional(Text({ description: 'Name; default: the path' })),
  path: Optional(Text({ description: 'Path; default: derived from the name' })),
  description: Optional(Nullable(Text({ description: 'Description of the project' }))),
  visibility: Optional(
    OneOf(['private', 'internal', 'public'], {
      description: 'Who can see the project; default: the setting of the instance, at most the visibility of its group',
    }),
  ),
  tag_list: Optional(
    CommaList(Text(), { maxItems: 1000, description: 'Same as `topics`, which counts if both are given' }),
  ),
  topics: Optional(CommaList(Text(), { maxItems: 1000, description: 'Names of topics' })),
  avatar: Optional(Nullable(File({ description: 'Image file of the avatar' }))),
  ...featureParams,
  ...settingParams,
  ...settingAliases,
  ...cleanupPolicyParams,
} as const
