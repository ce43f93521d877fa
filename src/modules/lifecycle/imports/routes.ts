import { Type } from 'typebox'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { type ProjectSubject, project, projectReferenceFields } from '../../projects/index.ts'
import { findImportState, type ImportStateRow } from './state-queries.ts'

/** Import status of a project; the error is shown to maintainers only. */
const ProjectImport = entity({
  name: 'ProjectImport',
  schema: Type.Object({
    ...projectReferenceFields,
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
