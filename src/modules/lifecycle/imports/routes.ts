import { endpoint } from '../../../api/endpoint.ts'
import { project } from '../../projects/index.ts'
import { ProjectImport } from './entity.ts'
import { findImportState } from './state-queries.ts'

export const importRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/import',
    summary: 'Get the status of an import',
    subject: project,
    allow: 'read_project',
    returns: ProjectImport,
    handle: async ({ subject, ctx }) => ({ state: await findImportState(ctx.db, subject.id), project: subject }),
  }),
]
