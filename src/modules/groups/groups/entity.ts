import { Type } from 'typebox'
import { groupPolicy } from '../../../access/group-policy.ts'
import { visibilityName } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { dateOnly, described, nullable, timestamp } from '../../../api/schema.ts'
import { customAttributes } from '../../accounts/index.ts'
import { namespaceUrl, pictureUrl } from '../../namespaces/index.ts'
import { Project, ProjectSimple, sharedWithGroups } from '../../projects/index.ts'
import type { GroupRecordRow, GroupRow } from './queries.ts'
import { groupFacts } from './subject.ts'

const fields = {
  id: Type.Integer({ description: 'ID of the group' }),
  name: Type.String({ description: 'Name of the group' }),
  path: Type.String({ description: 'Last segment of the path' }),
  full_name: Type.String({ description: 'Names of all parent groups and of the group, joined by ` / `' }),
  full_path: Type.String({ description: 'Path with all parent groups' }),
  description: Type.String({ description: 'Description; may be empty' }),
  visibility: Type.Union([Type.Literal('private'), Type.Literal('internal'), Type.Literal('public')], {
    description: 'Who can see the group',
  }),
  share_with_group_lock: Type.Boolean({ description: 'True if its projects cannot be shared with other groups' }),
  require_two_factor_authentication: Type.Boolean({ description: 'True if members must have a second factor' }),
  two_factor_grace_period: Type.Integer({ description: 'Grace period in hours' }),
  project_creation_level: Type.Union([Type.Literal('noone'), Type.Literal('maintainer'), Type.Literal('developer')], {
    description: 'Lowest role that may create projects; `noone` for no role',
  }),
  auto_devops_enabled: nullable(Type.Boolean(), {
    description: 'Default of Auto DevOps for projects; null to inherit',
  }),
  subgroup_creation_level: Type.Union([Type.Literal('owner'), Type.Literal('maintainer')], {
    description: 'Lowest role that may create subgroups',
  }),
  emails_disabled: nullable(Type.Boolean(), {
    description: 'True if notification emails are disabled; null to inherit',
  }),
  mentions_disabled: nullable(Type.Boolean(), {
    description: 'True if mentions of the group notify no one; null if it was never set',
  }),
  lfs_enabled: Type.Boolean({ description: 'True if its projects can use Git LFS by default' }),
  avatar_url: nullable(Type.String(), { description: 'URL of the avatar; null if there is none' }),
  web_url: nullable(Type.String(), { description: 'URL of the group page' }),
  request_access_enabled: Type.Boolean({ description: 'True if users may request access' }),
  file_template_project_id: nullable(Type.Integer(), {
    description: 'ID of the project with file templates; null if there is none',
  }),
  parent_id: nullable(Type.Integer(), { description: 'ID of the parent group; null for a top-level group' }),
  created_at: timestamp('Time at which the group was created'),
  marked_for_deletion_on: Type.Optional(
    nullable(dateOnly(), { description: 'Day on which deletion was requested; null if it was not', tier: 'premium' }),
  ),
  membership_lock: Type.Optional(
    Type.Boolean({ description: 'True if no members can be added to its projects', tier: 'starter' }),
  ),
  shared_runners_minutes_limit: Type.Optional(
    nullable(Type.Integer(), {
      description: 'Limit of CI minutes per month; null for the default of the instance',
      tier: 'starter',
    }),
  ),
  extra_shared_runners_minutes_limit: Type.Optional(
    nullable(Type.Integer(), {
      description: 'Additional CI minutes per month; null if there are none',
      tier: 'starter',
    }),
  ),
  statistics: Type.Optional(
    Type.Object(
      {
        storage_size: Type.Integer({ description: 'Total in bytes' }),
        repository_size: Type.Integer({ description: 'Repositories in bytes' }),
        wiki_size: Type.Integer({ description: 'Wikis of groups and projects in bytes' }),
        snippets_size: Type.Integer({ description: 'Files of snippets in bytes' }),
        lfs_objects_size: Type.Integer({ description: 'Git LFS objects in bytes' }),
        job_artifacts_size: Type.Integer({ description: 'Job artifacts in bytes' }),
        packages_size: Type.Integer({ description: 'Packages in bytes' }),
      },
      {
        title: 'GroupStatistics',
        description:
          'Storage of the group, its subgroups and all their projects in bytes; present with `statistics=true`',
      },
    ),
  ),
  custom_attributes: customAttributes,
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
  // Null inherits, and no group above disables it.
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
        row.statistics.snippets_size +
        row.statistics.lfs_objects_size +
        row.statistics.job_artifacts_size +
        row.statistics.packages_size,
      ...row.statistics,
    },
  }),
  ...(row.custom_attributes && { custom_attributes: row.custom_attributes }),
})

export const Group = entity({ name: 'Group', schema: Type.Object(fields), present })

/** All of one kind. */
const projectRecords = Type.Array(Type.Union([Project.schema, ProjectSimple.schema]))

/** The record of one group; its projects are added on request (detail.ts). */
export const GroupDetail = entity({
  name: 'GroupDetail',
  schema: Type.Object({
    ...fields,
    runners_token: Type.Optional(Type.String({ description: 'Token to register runners; only for owners' })),
    shared_with_groups: sharedWithGroups('group'),
    projects: Type.Optional(
      described(projectRecords, 'Projects of the group, at most 100; absent with `with_projects=false`'),
    ),
    shared_projects: Type.Optional(
      described(projectRecords, 'Projects shared with the group, at most 100; absent with `with_projects=false`'),
    ),
  }),
  present: (row: GroupRow, ctx) => ({
    ...present(row, ctx),
    ...(allows(groupPolicy.admin_group, ctx.actor, groupFacts(row)) && { runners_token: row.runners_token }),
    shared_with_groups: [...(row.shared_with_groups ?? [])],
  }),
})
