import { memberLevels } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { endpoint, variants } from '../../../api/endpoint.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import {
  CommaList,
  File,
  Flag,
  Hash,
  Nullable,
  OneOf,
  Optional,
  Params,
  Text,
  Whole,
} from '../../../api/params/types.ts'
import { accepted, instance, Message } from '../../instance/index.ts'
import { Project, ProjectSimple, projectFilters, projectsPage } from '../../projects/index.ts'
import { detailOf, getDetail } from './detail.ts'
import { editGroup } from './edit.ts'
import { Group, GroupDetail } from './entity.ts'
import { type GroupFilters, type GroupSet, listGroups } from './list-queries.ts'
import type { GroupOptions, GroupRecordRow } from './queries.ts'
import { groupRecordRow } from './queries.ts'
import { createGroup, deleteGroup, restoreGroup } from './service.ts'
import { group } from './subject.ts'

const bigId = { maximum: Number.MAX_SAFE_INTEGER }

/** Filters of every list of groups. */
const groupFilters = {
  // Compat: Go clients send the list as one text with commas.
  skip_groups: Optional(CommaList(Whole(bigId), { description: 'IDs to exclude' })),
  all_available: Optional(
    Flag({ description: 'Return all groups that the caller can see, not only those of which the caller is a member' }),
  ),
  search: Optional(Text({ description: 'Search terms in the name or path' })),
  order_by: OneOf(['name', 'path', 'id'], { default: 'name', description: 'Field to order by' }),
  sort: OneOf(['asc', 'desc'], { default: 'asc', description: 'Sort direction: ascending or descending' }),
  statistics: Flag({ default: false, description: 'Include statistics; for administrators' }),
  with_custom_attributes: Flag({ default: false, description: 'Include custom attributes; for administrators' }),
  owned: Flag({ default: false, description: 'Only groups that the caller owns' }),
  min_access_level: Optional(OneOf(memberLevels, { levels: true, description: 'Minimum access level of the caller' })),
  custom_attributes: Optional(
    Hash(Text(), { maxProperties: 100, description: 'Only with these custom attributes; for administrators' }),
  ),
} as const

/** A page of groups. Fields for administrators are omitted for other callers. */
const groupsPage = (
  ctx: Ctx,
  set: GroupSet,
  params: GroupFilters & { statistics: boolean; with_custom_attributes: boolean },
  page: Page,
): Promise<Paged<GroupRecordRow>> => {
  const options: GroupOptions = ctx.actor?.admin
    ? { statistics: params.statistics, customAttributes: params.with_custom_attributes }
    : {}
  return fetchPage(ctx.db, groupRecordRow, listGroups(ctx.actor, set, params, options), page)
}

const minutes = (description: string) => Optional(Nullable(Whole({ minimum: 0, tier: 'starter', description })))

const writeParams = {
  description: Optional(Nullable(Text({ description: 'Description of the group' }))),
  visibility: Optional(
    OneOf(['private', 'internal', 'public'], {
      description: 'Who can see the group; at most the visibility of the parent',
    }),
  ),
  membership_lock: Optional(Flag({ tier: 'starter', description: 'Prevent adding members to its projects' })),
  share_with_group_lock: Optional(Flag({ description: 'Prevent sharing projects with other groups' })),
  require_two_factor_authentication: Optional(Flag({ description: 'Members need two-factor authentication' })),
  two_factor_grace_period: Optional(
    Whole({ minimum: 0, description: 'Hours until two-factor authentication is required' }),
  ),
  project_creation_level: Optional(
    OneOf(['noone', 'maintainer', 'developer'], { description: 'Who may create projects' }),
  ),
  auto_devops_enabled: Optional(
    Nullable(Flag({ description: 'Default of `auto_devops_enabled` of new projects below; null to inherit' })),
  ),
  subgroup_creation_level: Optional(OneOf(['owner', 'maintainer'], { description: 'Who may create subgroups' })),
  emails_disabled: Optional(Nullable(Flag({ description: 'Disable email notifications' }))),
  mentions_disabled: Optional(Nullable(Flag({ description: 'A mention of the group notifies no member' }))),
  lfs_enabled: Optional(Nullable(Flag({ description: 'Git LFS for its projects' }))),
  avatar: Optional(Nullable(File({ description: 'Image file of the avatar' }))),
  request_access_enabled: Optional(Flag({ description: 'Users may request access' })),
  shared_runners_minutes_limit: minutes('Monthly minutes on shared runners'),
  extra_shared_runners_minutes_limit: minutes('Additional minutes on shared runners'),
} as const

export const groupRoutes = [
  endpoint({
    method: 'GET',
    path: '/groups',
    summary: 'List groups',
    subject: instance,
    allow: 'browse',
    params: Params({
      ...groupFilters,
      top_level_only: Flag({ default: false, description: 'Only groups without a parent' }),
    }),
    paged: true,
    returns: Group,
    handle: ({ params, page, ctx }) => groupsPage(ctx, { of: 'everyone' }, params, page),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/subgroups',
    summary: 'List subgroups',
    description: 'Returns direct children only.',
    subject: group,
    allow: 'read_group',
    params: Params(groupFilters),
    paged: true,
    returns: Group,
    handle: ({ subject, params, page, ctx }) => groupsPage(ctx, { of: 'children', id: subject.id }, params, page),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/descendant_groups',
    summary: 'List descendant groups',
    description: 'Returns subgroups of every depth.',
    subject: group,
    allow: 'read_group',
    params: Params(groupFilters),
    paged: true,
    returns: Group,
    handle: ({ subject, params, page, ctx }) =>
      groupsPage(ctx, { of: 'descendants', id: subject.id, traversalIds: subject.traversal_ids }, params, page),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/projects',
    summary: 'List projects of a group',
    subject: group,
    allow: 'read_group',
    params: Params({
      ...projectFilters,
      with_shared: Flag({ default: true, description: 'Include projects shared with the group' }),
      with_security_reports: Flag({ default: false, tier: 'ultimate', description: 'Only with security reports' }),
      include_subgroups: Flag({ default: false, description: 'Include projects of subgroups' }),
    }),
    paged: true,
    returns: variants(Project, ProjectSimple),
    handle: ({ subject, params, page, ctx }) =>
      projectsPage(
        ctx,
        {
          of: 'group',
          groupId: subject.id,
          traversalIds: subject.traversal_ids,
          shared: params.with_shared ? 'with' : 'without',
          includeSubgroups: params.include_subgroups,
        },
        params,
        page,
      ),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id',
    summary: 'Get a group',
    subject: group,
    allow: 'read_group',
    params: Params({
      with_custom_attributes: Flag({ default: false, description: 'Include custom attributes; for administrators' }),
      with_projects: Flag({
        default: true,
        description: 'Include its projects and shared projects, at most 100 of each',
      }),
    }),
    returns: GroupDetail,
    async handle({ subject, params, ctx }) {
      if (params.with_custom_attributes && ctx.actor?.admin)
        return getDetail(ctx, subject.id, { withProjects: params.with_projects, customAttributes: true })
      return params.with_projects ? detailOf(ctx, subject) : subject
    },
  }),

  endpoint({
    method: 'POST',
    path: '/groups',
    summary: 'Create a group',
    subject: instance,
    allow: 'use',
    params: Params({
      name: Text({ description: 'Name of the group' }),
      path: Text({ description: 'Last segment of the path' }),
      ...writeParams,
      parent_id: Optional(Nullable(Whole({ ...bigId, description: 'ID of the parent group' }))),
    }),
    returns: GroupDetail,
    handle: async ({ params, ctx }) => getDetail(ctx, await createGroup(ctx, params)),
  }),

  endpoint({
    method: 'PUT',
    path: '/groups/:id',
    summary: 'Update a group',
    subject: group,
    allow: 'admin_group',
    params: Params({
      name: Optional(Text({ description: 'Name of the group' })),
      path: Optional(Text({ description: 'Last segment of the path' })),
      file_template_project_id: Optional(
        Nullable(Whole({ ...bigId, tier: 'premium', description: 'ID of the project with file templates' })),
      ),
      ...writeParams,
    }),
    returns: GroupDetail,
    async handle({ subject, params, ctx }) {
      await editGroup(ctx, subject, params)
      return getDetail(ctx, subject.id)
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/groups/:id',
    summary: 'Delete a group',
    description: 'Deletes its subgroups and projects as well.',
    subject: group,
    allow: 'remove_group',
    status: 202,
    changedAt: ({ updated_at }) => updated_at,
    returns: Message,
    async handle({ subject, ctx }) {
      await deleteGroup(ctx, subject)
      return accepted
    },
  }),

  endpoint({
    method: 'POST',
    path: '/groups/:id/restore',
    summary: 'Restore a group',
    description: 'Cancels the scheduled deletion of the group.',
    tier: 'premium',
    subject: group,
    allow: 'remove_group',
    params: Params({}),
    returns: GroupDetail,
    async handle({ subject, ctx }) {
      await restoreGroup(ctx, subject)
      return getDetail(ctx, subject.id)
    },
  }),
]
