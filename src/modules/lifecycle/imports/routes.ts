import { Type } from 'typebox'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { type ProjectSubject, project } from '../../projects/index.ts'
import { findImportState, type ImportStateRow } from './state-queries.ts'

/** What became of filling a project; why it failed is for those who maintain it. */
const ProjectImport = entity({
  name: 'ProjectImport',
  schema: Type.Object({
    id: Type.Integer(),
    description: nullable(Type.String()),
    name: Type.String(),
    name_with_namespace: Type.String(),
    path: Type.String(),
    path_with_namespace: Type.String(),
    created_at: timestamp(),
    import_status: Type.String({ enum: ['none', 'scheduled', 'started', 'finished', 'failed'] }),
    import_error: Type.Optional(nullable(Type.String({ description: 'For maintainers' }))),
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
