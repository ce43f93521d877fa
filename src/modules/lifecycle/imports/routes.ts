import { Type } from 'typebox'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { type ProjectSubject, project } from '../../projects/index.ts'
import { findImportState, type ImportStateRow } from './state-queries.ts'

/** Import status of a project; the error is shown to maintainers only. */
const ProjectImport = entity({
  name: 'ProjectImport',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the project' }),
    description: nullable(Type.String(), { description: 'Description of the project; null if there is none' }),
    name: Type.String({ description: 'Name of the project' }),
    name_with_namespace: Type.String({
      description: 'Names of all parent groups, or of the owner, and of the project, joined by ` / `',
    }),
    path: Type.String({ description: 'Last segment of the path' }),
    path_with_namespace: Type.String({ description: 'Path with all parent groups or the owner' }),
    created_at: timestamp('Time at which the project was created'),
    import_status: Type.String({
      description: 'State of the import; `none` if the project was not imported',
      enum: ['none', 'scheduled', 'started', 'finished', 'failed'],
    }),
    import_error: Type.Optional(
      nullable(Type.String({ description: 'Error of the import, only for maintainers; null if there is none' })),
    ),
  }),
  present: ({ state, project: { facts } }: { state: ImportStateRow; project: ProjectSubject }, ctx) => {
    const { import_error, ...rest } = state
    return { ...rest, ...(allows(projectPolicy.admin_project, ctx.actor, facts) && { import_error }) }
  },
})

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
