import { Type } from 'typebox'
import { groupPolicy } from '../../../access/group-policy.ts'
import { visibilityName } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { dateOnly, nullable, timestamp } from '../../../api/schema.ts'
import { namespaceUrl, pictureUrl } from '../../namespaces/index.ts'
import { Project, ProjectSimple } from '../../projects/index.ts'
import type { GroupRecordRow, GroupRow } from './queries.ts'
import { groupFacts } from './subject.ts'

const fields = {
  id: Type.Integer(),
  name: Type.String(),
  path: Type.String(),
  full_name: Type.String(),
  full_path: Type.String(),
  description: Type.String(),
  visibility: Type.Union([Type.Literal('private'), Type.Literal('internal'), Type.Literal('public')]),
  share_with_group_lock: Type.Boolean(),
  require_two_factor_authentication: Type.Boolean(),
  two_factor_grace_period: Type.Integer({ description: 'Grace period in hours' }),
  project_creation_level: Type.Union([Type.Literal('noone'), Type.Literal('maintainer'), Type.Literal('developer')]),
  auto_devops_enabled: nullable(Type.Boolean()),
  subgroup_creation_level: Type.Union([Type.Literal('owner'), Type.Literal('maintainer')]),
  emails_disabled: nullable(Type.Boolean()),
  mentions_disabled: nullable(Type.Boolean()),
  lfs_enabled: Type.Boolean(),
  avatar_url: nullable(Type.String()),
  web_url: nullable(Type.String()),
  request_access_enabled: Type.Boolean(),
  file_template_project_id: nullable(Type.Integer()),
  parent_id: nullable(Type.Integer()),
  created_at: timestamp(),
  marked_for_deletion_on: Type.Optional(nullable(dateOnly(), { tier: 'premium' })),
  membership_lock: Type.Optional(Type.Boolean({ tier: 'starter' })),
  shared_runners_minutes_limit: Type.Optional(nullable(Type.Integer(), { tier: 'starter' })),
  extra_shared_runners_minutes_limit: Type.Optional(nullable(Type.Integer(), { tier: 'starter' })),
  statistics: Type.Optional(
    Type.Object({
      storage_size: Type.Integer(),
      repository_size: Type.Integer(),
      wiki_size: Type.Integer(),
      lfs_objects_size: Type.Integer(),
      job_artifacts_size: Type.Integer(),
      packages_size: Type.Integer(),
    }),
  ),
  custom_attributes: Type.Optional(Type.Array(Type.Object({ key: Type.String(), value: Type.String() }))),
}

const present = (row: GroupRecordRow, { site }: Ctx) => ({
  id: row.id,
  name: row.name,
  path: row.path,
  full_name: row.full_name,
  full_path: row.full_path,
  description: row.description,
  visibility: visibilityName(row.visibility),
  share_with_group_lock: row.share_with_group_lock,
  require_two_factor_authentication: row.require_two_factor_authentication,
  two_factor_grace_period: row.two_factor_grace_period,
  project_creation_level: row.project_creation_level,
  auto_devops_enabled: row.auto_devops_enabled,
  subgroup_creation_level: row.subgroup_creation_level,
  emails_disabled: row.emails_disabled,
  mentions_disabled: row.mentions_disabled,
  // Null inherits, and nothing above switches it off.
  lfs_enabled: row.lfs_enabled ?? true,
  avatar_url: pictureUrl(site, 'group', row.id, row.avatar),
  web_url: namespaceUrl(site, 'group', row.full_path),
  request_access_enabled: row.request_access_enabled,
  file_template_project_id: row.file_template_project_id,
  parent_id: row.parent_id,
  created_at: row.created_at,
  marked_for_deletion_on: row.marked_for_deletion_on,
  membership_lock: row.membership_lock,
  shared_runners_minutes_limit: row.shared_runners_minutes_limit,
  extra_shared_runners_minutes_limit: row.extra_shared_runners_minutes_limit,
  ...(row.statistics && {
    statistics: {
      storage_size:
        row.statistics.repository_size +
        row.statistics.wiki_size +
        row.statistics.lfs_objects_size +
        row.statistics.job_artifacts_size +
        row.statistics.packages_size,
      ...row.statistics,
    },
  }),
  ...(row.custom_attributes && { custom_attributes: row.custom_attributes }),
})

export const Group = entity({ name: 'Group', schema: Type.Object(fields), present })

const projectRecords = Type.Array(Type.Union([Project.schema, ProjectSimple.schema]))

/** As a group's own record shows it; projects are added to it (detail.ts) when they are asked for. */
export const GroupDetail = entity({
  name: 'GroupDetail',
  schema: Type.Object({
    ...fields,
    runners_token: Type.Optional(Type.String({ description: 'For owners' })),
    shared_with_groups: Type.Array(
      Type.Object({
        group_id: Type.Integer(),
        group_name: Type.String(),
        group_full_path: Type.String(),
        group_access_level: Type.Integer(),
        expires_at: nullable(dateOnly()),
      }),
    ),
    projects: Type.Optional(projectRecords),
    shared_projects: Type.Optional(projectRecords),
  }),
  present: (row: GroupRow, ctx) => ({
    ...present(row, ctx),
    ...(allows(groupPolicy.admin_group, ctx.actor, groupFacts(row)) && { runners_token: row.runners_token }),
    shared_with_groups: [...(row.shared_with_groups ?? [])],
  }),
})
