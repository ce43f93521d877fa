import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { projectReferenceFields } from '../../projects/index.ts'
import type { ExportStateRow } from './queries.ts'

/** Export status of a project. */
export const ProjectExport = entity({
  name: 'ProjectExport',
  schema: Type.Object({
    ...projectReferenceFields,
    export_status: Type.String({
      description:
        'State of the export: `none` without an archive, `after_export_action` while a finished one is uploaded',
      enum: ['none', 'started', 'after_export_action', 'finished'],
    }),
    _links: Type.Optional(
      Type.Object(
        {
          api_url: Type.String({ description: 'URL of the download in the API' }),
          web_url: Type.String({ description: 'URL of the download on the site' }),
        },
        { description: 'Only when the export has finished' },
      ),
    ),
  }),
  present: (row: ExportStateRow, { site }) => ({
    ...row,
    ...(row.export_status === 'finished' && {
      _links: {
        api_url: `${site.url}/api/v4/projects/${row.id}/export/download`,
        web_url: `${site.url}/${row.path_with_namespace}/download_export`,
      },
    }),
  }),
})
