import type { Ctx } from '../../../api/ctx.ts'
import { endpoint, variants } from '../../../api/endpoint.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import { File, Flag, Hash, List, Nullable, OneOf, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { instance, Message } from '../../instance/index.ts'
import { Project, ProjectSimple, projectFilters, projectsPage } from '../../projects/index.ts'
import { detailOf, getDetail } from './detail.ts'
import { Group, GroupDetail } from './entity.ts'
import { type GroupFilters, type GroupSet, listGroups } from './list-queries.ts'
import type { GroupOptions, GroupRecordRow } from './queries.ts'
import { createGroup, deleteGroup, editGroup, restoreGroup } from './service.ts'
import { group } from './subject.ts'

const bigId = { maximum: Number.MAX_SAFE_INTEGER }

/** Filters of every list of groups. */
const groupFilters = {
  skip_groups: Optional(List(Whole(bigId), { description: 'Ids to leave out' })),
  all_available: Optional(Flag({ description: 'All groups the caller may see, not only his' })),
  search: Optional(Text({ description: 'Words in the name or path' })),
  order_by: OneOf(['name', 'path', 'id'], { default: 'name', description: 'Order' }),
  sort: OneOf(['asc', 'desc'], { default: 'asc', description: 'Direction' }),
  statistics: Flag({ default: false, description: 'Show statistics; administrators' }),
  with_custom_attributes: Flag({ default: false, description: 'Show custom attributes; administrators' }),
  owned: Flag({ default: false, description: 'Owned by the caller himself' }),
  min_access_level: Optional(OneOf([10, 20, 30, 40, 50], { description: 'The caller has at least this level' })),
  custom_attributes: Optional(
    Hash(Text(), { maxProperties: 100, description: 'With these attributes; administrators' }),
  ),
} as const

/** A page of groups. What only administrators are shown is left out for others. */
const groupsPage = (
  ctx: Ctx,
  set: GroupSet,
  params: GroupFilters & { statistics: boolean; with_custom_attributes: boolean },
  page: Page,
): Promise<Paged<GroupRecordRow>> => {
  const options: GroupOptions = ctx.actor?.admin
    ? { statistics: params.statistics, customAttributes: params.with_custom_attributes }
    : {}
  return fetchPage<GroupRecordRow>(ctx.db, listGroups(ctx.actor, set, params, options), page)
}

const minutes = (description: string) => Optional(Nullable(Whole({ minimum: 0, tier: 'starter', description })))

const writeParams = {
  description: Optional(Nullable(Text({ description: 'Description' }))),
  visibility: Optional(OneOf(['private', 'internal', 'public'], { description: 'Who may see it' })),
  share_with_group_lock: Optional(Flag({ description: 'Its projects may not be shared with other groups' })),
  require_two_factor_authentication: Optional(Flag({ description: 'Members need a second factor' })),
  two_factor_grace_period: Optional(Whole({ minimum: 0, description: 'Hours until then' })),
  project_creation_level: Optional(
    OneOf(['noone', 'maintainer', 'developer'], { description: 'Who may create projects' }),
  ),
  auto_devops_enabled: Optional(Nullable(Flag({ description: 'Pipelines without configuration' }))),
  subgroup_creation_level: Optional(OneOf(['owner', 'maintainer'], { description: 'Who may create subgroups' })),
  emails_disabled: Optional(Nullable(Flag({ description: 'No mail' }))),
  mentions_disabled: Optional(Nullable(Flag({ description: 'The group cannot be mentioned' }))),
  lfs_enabled: Optional(Nullable(Flag({ description: 'Large files in its projects' }))),
  avatar: Optional(Nullable(File({ description: 'Picture' }))),
  request_access_enabled: Optional(Flag({ description: 'People may ask for access' })),
  shared_runners_minutes_limit: minutes('Minutes on shared runners'),
  extra_shared_runners_minutes_limit: minutes('Further minutes on shared runners'),
} as const

export const groupRoutes = [
  endpoint({
    method: 'GET',
    path: '/groups',
    summary: 'List groups',
    subject: instance,
    allow: 'browse',
    params: Params(groupFilters),
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
      with_shared: Flag({ default: true, description: 'Those shared with the group, too' }),
      with_security_reports: Flag({ default: false, tier: 'ultimate', description: 'With security reports' }),
      include_subgroups: Flag({ default: false, description: 'Those of its subgroups, too' }),
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
      with_custom_attributes: Flag({ default: false, description: 'Show custom attributes; administrators' }),
      with_projects: Flag({
        default: true,
        description: 'Show its projects and those shared with it, at most 100 of each',
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
      name: Text({ description: 'Name' }),
      path: Text({ description: 'Path' }),
      ...writeParams,
      parent_id: Optional(Nullable(Whole({ ...bigId, description: 'The group above' }))),
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
      name: Optional(Text({ description: 'Name' })),
      path: Optional(Text({ description: 'Path' })),
      membership_lock: Optional(Flag({ tier: 'starter', description: 'Nobody is added to its projects' })),
      file_template_project_id: Optional(
        Nullable(Whole({ ...bigId, tier: 'premium', description: 'Project of file templates' })),
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
      return { message: '202 Accepted' }
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
