import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { StartedImport } from './service.ts'

/** An import from another forge, in the form that its callers know. */
export const ForgeImport = entity({
  name: 'ForgeImport',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the project' }),
    name: Type.String({ description: 'Name of the project' }),
    full_path: Type.String({ description: 'Path of the project with its namespace, after a slash' }),
    full_name: Type.String({ description: 'Name of the project with its namespace' }),
    import_source: Type.String({ description: 'Owner and name of the repository at the forge' }),
    import_status: Type.String({ description: '`scheduled`, or `canceled`' }),
    human_import_status_name: Type.String({ description: 'The status as words for people, equal to `import_status`' }),
    provider_link: Type.String({ description: 'Path of the repository at the forge' }),
  }),
  present: ({ project, fullName, source, status }: StartedImport) => ({
    id: project.id,
    name: project.name,
    full_path: `/${project.full_path}`,
    full_name: fullName,
    import_source: source,
    import_status: status,
    human_import_status_name: status,
    provider_link: `/${source}`,
  }),
})
