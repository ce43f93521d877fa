import { as, endpoint, variants } from '../../../api/endpoint.ts'
import { Flag, Params } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { userByIdOrName } from '../../accounts/index.ts'
import { accepted, instance, Message } from '../../instance/index.ts'
import { ProjectPublic, ProjectSimple } from './basic-entity.ts'
import { cachedProject, cachedPublicProject } from './cached.ts'
import { Project } from './entity.ts'
import { projectsOfUser, projectsPage } from './list.ts'
import { projectListFilters } from './params.ts'
import { findProjectRecord } from './record-queries.ts'
import { deleteProject } from './service.ts'
import { project, stampedProject } from './subject.ts'

export const projectRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects',
    summary: 'List projects',
    description: 'Returns the projects that the caller can see.',
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
    summary: 'List projects of a user',
    description:
      'Returns the projects in the personal namespace of the user. The list of a private profile is empty, except for the user and administrators.',
    subject: userByIdOrName,
    allow: 'read_user',
    params: Params(projectListFilters),
    paged: true,
    returns: variants(Project, ProjectSimple),
    handle: ({ subject, params, page, ctx }) =>
      projectsOfUser(ctx, subject, { of: 'user', userId: subject.id }, params, page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id',
    summary: 'Get a project',
    subject: stampedProject,
    allow: 'read_project',
    params: Params({
      statistics: Flag({ default: false, description: 'Include `statistics`, for users who may see them' }),
      license: Flag({ default: false, description: 'Include the license' }),
      with_custom_attributes: Flag({ default: false, description: 'Include custom attributes; for administrators' }),
    }),
    returns: variants(Project, ProjectPublic),
    async handle({ subject, params, ctx }) {
      if (ctx.actor === null) return as(cachedPublicProject, subject)
      const customAttributes = params.with_custom_attributes && ctx.actor.admin
      if (!params.statistics && !params.license && !customAttributes) return as(cachedProject, subject)
      const options = { statistics: params.statistics, customAttributes }
      const row = await findProjectRecord(ctx.db, ctx.actor, subject.id, options)
      if (!row) throw notFound('Project')
      return as(Project, { ...row, withLicense: params.license })
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id',
    summary: 'Delete a project',
    description: 'Depending on the settings, the project is scheduled for deletion instead.',
    subject: project,
    allow: 'remove_project',
    status: 202,
    changedAt: ({ updated_at }) => updated_at,
    returns: Message,
    async handle({ subject, ctx }) {
      await deleteProject(ctx, subject)
      return accepted
    },
  }),
]
