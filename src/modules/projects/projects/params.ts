import { CommaList, File, Flag, Hash, Nullable, OneOf, Optional, Text, Whole } from '../../../api/params/types.ts'
import { featureParams } from './features.ts'
import { settingParams } from './settings.ts'

/** Ids are 64 bits wide in the database and as wide as numbers go on the wire. */
export const projectIds = { maximum: Number.MAX_SAFE_INTEGER }

/** Filters of every list of projects. */
export const projectFilters = {
  archived: Optional(Flag({ description: 'Archived or not' })),
  visibility: Optional(OneOf(['public', 'internal', 'private'], { description: 'Of this visibility' })),
  order_by: OneOf(['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'], {
    default: 'created_at',
    description: 'Order',
  }),
  sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'Direction' }),
  search: Optional(Text({ description: 'Words in the path, name or description' })),
  simple: Flag({ default: false, description: 'Records with few fields' }),
  owned: Flag({ default: false, description: 'Owned by the caller' }),
  starred: Flag({ default: false, description: 'Starred by the caller' }),
  with_issues_enabled: Flag({ default: false, description: 'With issues' }),
  with_merge_requests_enabled: Flag({ default: false, description: 'With merge requests' }),
  min_access_level: Optional(OneOf([10, 20, 30, 40, 50], { description: 'The caller has at least this level' })),
  with_custom_attributes: Flag({ default: false, description: 'Show custom attributes; administrators' }),
} as const

export const projectListFilters = {
  ...projectFilters,
  membership: Flag({ default: false, description: 'The caller is a member' }),
  statistics: Flag({ default: false, description: 'Show statistics' }),
  with_programming_language: Optional(Text({ description: 'Written in this language' })),
  id_after: Optional(Whole({ ...projectIds, description: 'Ids greater than this' })),
  id_before: Optional(Whole({ ...projectIds, description: 'Ids less than this' })),
  custom_attributes: Optional(
    Hash(Text(), { maxProperties: 100, description: 'With these attributes; administrators' }),
  ),
  repository_checksum_failed: Flag({
    default: false,
    tier: 'premium',
    description: 'The last check found their repository broken',
  }),
  wiki_checksum_failed: Flag({
    default: false,
    tier: 'premium',
    description: 'The last check found their wiki broken',
  }),
} as const

/** What create and edit may set. */
export const writeParams = {
  name: Optional(Text({ description: 'Name; the path without one' })),
  path: Optional(Text({ description: 'Path; made from the name without one' })),
  description: Optional(Nullable(Text({ description: 'Description' }))),
  visibility: Optional(OneOf(['private', 'internal', 'public'], { description: 'Who may see it' })),
  tag_list: Optional(CommaList(Text(), { maxItems: 1000, description: 'Topics' })),
  topics: Optional(CommaList(Text(), { maxItems: 1000, description: 'Topics' })),
  avatar: Optional(Nullable(File({ description: 'Picture' }))),
  ...featureParams,
  ...settingParams,
} as const
