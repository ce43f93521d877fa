import { Type } from 'typebox'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { type ProjectSubject, projectReferenceFields } from '../../projects/index.ts'
import type { ImportStateRow } from './state-queries.ts'

const counts = (what: string) =>
  Type.Record(Type.String(), Type.Integer(), { description: `Number of objects that were ${what}, by their kinds` })

const failedRelation = Type.Object({
  id: Type.Integer({ description: 'Number in the list' }),
  created_at: timestamp('Time of the import'),
  exception_class: Type.String({ description: 'Kind of the failure' }),
  exception_message: Type.String({ description: 'Which object was left out, and why' }),
  source: Type.String({ description: 'Source of the import' }),
  relation_name: Type.String({ description: 'Kind of the object' }),
})

/** Import status of a project; the error and what was left out are shown to maintainers only. */
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
    import_type: nullable(
      Type.String({ description: 'Source of the import, as in the setting `import_sources`; null if it is unknown' }),
    ),
    failed_relations: Type.Optional(
      Type.Array(failedRelation, { description: 'What was left out, the first 100, only for maintainers' }),
    ),
    stats: nullable(Type.Object({ fetched: counts('read'), imported: counts('stored') }), {
      description: 'Counts by kind of what was read and of what was stored; null for imports without them',
    }),
  }),
  present: ({ state, project: { facts } }: { state: ImportStateRow; project: ProjectSubject }, ctx) => {
    const { import_error, failed_relations, ...rest } = state
    const administers = allows(projectPolicy.admin_project, ctx.actor, facts)
    return { ...rest, ...(administers && { import_error, failed_relations: [...(failed_relations ?? [])] }) }
  },
})
