import { Type } from 'typebox'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { type ProjectSubject, projectReferenceFields } from '../../projects/index.ts'
import type { ImportStateRow } from './state-queries.ts'

/** Import status of a project; the error is shown to maintainers only. */
export const ProjectImport = entity({
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
