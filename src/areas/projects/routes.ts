import type { Ctx } from '../../api/ctx.ts'
import { as, endpoint, type Variant, variants } from '../../api/endpoint.ts'
import { fetchPage, type Page } from '../../api/page.ts'
import { CommaList, Flag, Hash, Nullable, OneOf, Optional, Params, Text, Whole } from '../../api/params/types.ts'
import { notFound } from '../../kernel/failure.ts'
import { Message } from '../instance/entity.ts'
import { instance } from '../instance/subject.ts'
import { userByIdOrName } from '../users/subject.ts'
import {
  keptProject,
  keptProjects,
  keptPublicProject,
  keptSimpleProjects,
  Project,
  ProjectPublic,
  ProjectSimple,
} from './entity.ts'
import { featureParams } from './features.ts'
import { listProjects, type ProjectFilters, type ProjectSet } from './list-queries.ts'
import {
  findProjectRecord,
  namespaceKindOf,
  type ProjectRecordRow,
  type ProjectStamp,
  type RecordOptions,
} from './queries.ts'
import { deleteProject, editProject } from './service.ts'
import { settingParams } from './settings.ts'
import { project, stampedProject } from './subject.ts'

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

/** A page of a list of projects, in the form that the caller asked for or may have. */
export async function projectsPage(
  ctx: Ctx,
  set: ProjectSet,
  params: ProjectFilters & { simple: boolean; statistics?: boolean; with_custom_attributes: boolean },
  page: Page,
): Promise<Variant> {
  const rows = <Row>(options: RecordOptions | 'stamps') =>
    fetchPage<Row>(ctx.db, listProjects(ctx.actor, set, params, options), page)
  if (params.simple || ctx.actor === null) return as(keptSimpleProjects, await rows<ProjectStamp>('stamps'))
  const customAttributes = params.with_custom_attributes && ctx.actor.admin
  if (!params.statistics && !customAttributes) return as(keptProjects, await rows<ProjectStamp>('stamps'))
  const options = { statistics: params.statistics === true, customAttributes }
  return as(Project, await rows<ProjectRecordRow>(options))
}

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
    handle: ({ params, page, ctx }) => projectsPage(ctx, { of: 'everyone' }, params, page),
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
    handle: ({ subject, params, page, ctx }) => projectsPage(ctx, { of: 'user', userId: subject.id }, params, page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id',
    summary: 'One project',
    subject: stampedProject,
    allow: 'read_project',
    params: Params({
      statistics: Flag({ default: false, description: 'Show statistics' }),
      license: Flag({ default: false, description: 'Show the licence' }),
      with_custom_attributes: Flag({ default: false, description: 'Show custom attributes; administrators' }),
    }),
    returns: variants(Project, ProjectPublic),
    async handle({ subject, params, ctx }) {
      if (ctx.actor === null) return as(keptPublicProject, subject)
      const customAttributes = params.with_custom_attributes && ctx.actor.admin
      if (!params.statistics && !params.license && !customAttributes) return as(keptProject, subject)
      const options = { statistics: params.statistics, customAttributes }
      const row = await findProjectRecord(ctx.db, ctx.actor, subject.id, options)
      if (!row) throw notFound('Project')
      return as(Project, { ...row, withLicense: params.license })
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
