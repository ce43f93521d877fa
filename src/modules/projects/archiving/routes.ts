import { endpoint } from '../../../api/endpoint.ts'
import { Params } from '../../../api/params/types.ts'
import { Project } from '../projects/entity.ts'
import { getRecord } from '../projects/service.ts'
import { project } from '../projects/subject.ts'
import { archive, restoreProject } from './service.ts'

const archiving = (verb: 'archive' | 'unarchive', summary: string, archived: boolean) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${verb}`,
    summary,
    subject: project,
    allow: 'archive_project',
    params: Params({}),
    returns: Project,
    async handle({ subject, ctx }) {
      await archive(ctx, subject, archived)
      return getRecord(ctx, subject.id)
    },
  })

export const archivingRoutes = [
  archiving('archive', 'Make a project read-only', true),
  archiving('unarchive', 'Let a project be written to again', false),

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
