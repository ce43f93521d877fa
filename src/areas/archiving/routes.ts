import { endpoint } from '../../api/endpoint.ts'
import { Params } from '../../api/params/types.ts'
import { Project } from '../projects/entity.ts'
import { getRecord } from '../projects/service.ts'
import { project } from '../projects/subject.ts'
import { archive, restoreProject } from './service.ts'

export const archivingRoutes = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/archive',
    summary: 'Make a project read-only',
    subject: project,
    allow: 'archive_project',
    params: Params({}),
    returns: Project,
    async handle({ subject, ctx }) {
      await archive(ctx, subject, true)
      return getRecord(ctx, subject.id)
    },
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/unarchive',
    summary: 'Let a project be written to again',
    subject: project,
    allow: 'archive_project',
    params: Params({}),
    returns: Project,
    async handle({ subject, ctx }) {
      await archive(ctx, subject, false)
      return getRecord(ctx, subject.id)
    },
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/restore',
    summary: 'Take back that a project was marked for deletion',
    tier: 'premium',
    subject: project,
    allow: 'restore_project',
    params: Params({}),
    returns: Project,
    async handle({ subject, ctx }) {
      await restoreProject(ctx, subject)
      return getRecord(ctx, subject.id)
    },
  }),
]
