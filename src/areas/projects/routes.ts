import { as, endpoint, variants } from '../../api/endpoint.ts'
import { fetchPage } from '../../api/page.ts'
import { CommaList, Flag, Hash, Nullable, OneOf, Optional, Params, Text, Whole } from '../../api/params/types.ts'
import { Message } from '../instance/entity.ts'
import { instance } from '../instance/subject.ts'
import { userByIdOrName } from '../users/subject.ts'
import { Project, ProjectPublic, ProjectSimple } from './entity.ts'
import { featureParams } from './features.ts'
import { listProjects } from './list-queries.ts'
import { namespaceKindOf } from './queries.ts'
import { deleteProject, editProject } from './service.ts'
import { settingParams } from './settings.ts'
import { project, projectRecord } from './subject.ts'

/** Ids are larger than the usual whole number. */
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
  custom_attributes: Optional(Hash(Text(), { description: 'With these attributes; administrators' })),
} as const

/** What create and edit may set. */
export const writeParams = {
  name: Optional(Text({ description: 'Name; the path without one' })),
  path: Optional(Text({ description: 'Path; made from the name without one' })),
  description: Optional(Nullable(Text({ description: 'Description' }))),
  visibility: Optional(OneOf(['private', 'internal', 'public'], { description: 'Who may see it' })),
  tag_list: Optional(CommaList(Text(), { description: 'Topics' })),
  topics: Optional(CommaList(Text(), { description: 'Topics' })),
  ...featureParams,
  ...settingParams,
} as const

export const projectRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects',
    summary: 'List projects the caller can see',
    subject: instance,
    allow: 'browse',
    params: Params(projectListFilters),
    paged: true,
    returns: variants(Project, ProjectSimple),
    async handle({ params, page, ctx }) {
      const simple = params.simple || ctx.actor === null
      const list = listProjects(ctx.actor, { of: 'everyone' }, params, {
        statistics: params.statistics && !simple,
        customAttributes: params.with_custom_attributes && ctx.actor?.admin === true,
      })
      return as(simple ? ProjectSimple : Project, await fetchPage(ctx.db, list, page))
    },
  }),

  endpoint({
    method: 'GET',
    path: '/users/:user_id/projects',
    summary: "List projects of a user's own namespace",
    subject: userByIdOrName,
    allow: 'read_user',
    params: Params(projectListFilters),
    paged: true,
    returns: variants(Project, ProjectSimple),
    async handle({ subject, params, page, ctx }) {
      const simple = params.simple || ctx.actor === null
      const list = listProjects(ctx.actor, { of: 'user', userId: subject.id }, params, {
        statistics: params.statistics && !simple,
        customAttributes: params.with_custom_attributes && ctx.actor?.admin === true,
      })
      return as(simple ? ProjectSimple : Project, await fetchPage(ctx.db, list, page))
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id',
    summary: 'One project',
    subject: projectRecord,
    allow: 'read_project',
    params: Params({
      statistics: Flag({ default: false, description: 'Show statistics' }),
      license: Flag({ default: false, description: 'Show the licence' }),
      with_custom_attributes: Flag({ default: false, description: 'Show custom attributes; administrators' }),
    }),
    returns: variants(Project, ProjectPublic),
    async handle({ subject, params, ctx }) {
      if (ctx.actor === null) return as(ProjectPublic, subject)
      const { statistics, custom_attributes, ...row } = subject
      return as(Project, {
        ...row,
        withLicense: params.license,
        ...(params.statistics && { statistics }),
        ...(params.with_custom_attributes && custom_attributes && { custom_attributes }),
      })
    },
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id',
    summary: 'Edit a project',
    subject: project,
    allow: 'admin_project',
    params: Params(
      { ...writeParams, default_branch: Optional(Text({ description: 'Branch that HEAD names' })) },
      { atLeastOneOf: [...(Object.keys(writeParams) as (keyof typeof writeParams)[]), 'default_branch'] },
    ),
    returns: Project,
    handle: ({ subject, params, ctx }) => editProject(ctx, subject, params),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id',
    summary: 'Delete a project, or mark it for deletion',
    subject: project,
    allow: 'remove_project',
    status: 202,
    changedAt: ({ updated_at }) => updated_at,
    returns: Message,
    async handle({ subject, ctx }) {
      await deleteProject(ctx, subject, await namespaceKindOf(ctx.db, subject.id))
      return { message: '202 Accepted' }
    },
  }),
]
