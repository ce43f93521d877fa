import { as, endpoint, variants } from '../../api/endpoint.ts'
import { fetchPage } from '../../api/page.ts'
import { Flag, Optional, Params, Text } from '../../api/params/types.ts'
import { Message } from '../instance/entity.ts'
import { instance } from '../instance/subject.ts'
import { userByIdOrName } from '../users/subject.ts'
import { Project, ProjectPublic, ProjectSimple } from './entity.ts'
import { listProjects } from './list-queries.ts'
import { projectListFilters, writeParams } from './params.ts'
import { namespaceKindOf } from './queries.ts'
import { deleteProject, editProject } from './service.ts'
import { project, projectRecord } from './subject.ts'

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
