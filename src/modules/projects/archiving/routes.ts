import { endpoint } from '../../../api/endpoint.ts'
import { Params } from '../../../api/params/types.ts'
import { Project } from '../projects/entity.ts'
import { getRecord } from '../projects/service.ts'
import { project } from '../projects/subject.ts'
import { archive, restoreProject } from './service.ts'

const archiving = (verb: 'archive' | 'unarchive', summary: string, description: string, archived: boolean) =>
  endpoint({
    method: 'POST',
    path: `/projects/:id/${verb}`,
    summary,
    description,
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
  archiving('archive', 'Archive a project', 'An archived project is read-only.', true),
  archiving('unarchive', 'Unarchive a project', 'The project accepts changes again.', false),

  endpoint({
    method: 'POST',
    path: '/projects/:id/restore',
    summary: 'Restore a project',
    description: 'Cancels the scheduled deletion of the project.',
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
