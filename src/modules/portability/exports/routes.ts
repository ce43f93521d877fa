import { endpoint, raw } from '../../../api/endpoint.ts'
import { Filled, Optional, Params, Text } from '../../../api/params/types.ts'
import { group } from '../../groups/index.ts'
import { accepted, Message } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { ProjectExport } from './entity.ts'
import { findExportState } from './queries.ts'
import { openExport, requireProjectExports, startExport } from './service.ts'

const download = {
  'content-disposition': 'Names the file: time, path, and the suffix `_export.tar.gz`',
}

export const exportRoutes = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/export',
    summary: 'Start an export',
    description:
      'Returns at once; `export_status` tells when the archive can be downloaded, and a mail is sent. One start in five minutes for each user.',
    subject: project,
    allow: 'export_project',
    params: Params({
      description: Optional(Text({ description: 'Description in the archive; default: that of the project' })),
      upload: Optional(
        Params(
          {
            url: Filled({ description: 'Presigned URL, http or https, to which the archive is uploaded' }),
            http_method: Text({ default: 'PUT', known: ['PUT', 'POST'], description: 'Method of the upload' }),
          },
          { description: 'Where the finished archive is uploaded; after the upload it cannot be downloaded' },
        ),
      ),
    }),
    status: 202,
    returns: Message,
    async handle({ subject, params, ctx }) {
      requireProjectExports(ctx)
      await startExport(ctx, { of: 'project', id: subject.id }, params)
      return accepted
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/export',
    summary: 'Get the status of an export',
    subject: project,
    allow: 'export_project',
    returns: ProjectExport,
    handle({ subject, ctx }) {
      requireProjectExports(ctx)
      return findExportState(ctx.db, subject.id, { isAdministrator: ctx.actor!.admin })
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/export/download',
    summary: 'Download an export',
    description: 'Finished archives can be downloaded for 24 hours. Ten downloads in ten minutes for each user.',
    subject: project,
    allow: 'export_project',
    headers: download,
    returns: raw('application/gzip'),
    handle({ subject, ctx, reply }) {
      requireProjectExports(ctx)
      return openExport(ctx, reply, { of: 'project', id: subject.id })
    },
  }),

  endpoint({
    method: 'POST',
    path: '/groups/:id/export',
    summary: 'Start an export of a group',
    description:
      'The archive has epics, wikis, milestones, labels, boards, badges and members of the group and its subgroups, and no projects. A mail tells when it can be downloaded.',
    subject: group,
    allow: 'export_group',
    status: 202,
    returns: Message,
    async handle({ subject, ctx }) {
      await startExport(ctx, { of: 'group', id: subject.id }, {})
      return accepted
    },
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/export/download',
    summary: 'Download an export of a group',
    description: 'Finished archives can be downloaded for 24 hours.',
    subject: group,
    allow: 'export_group',
    headers: download,
    returns: raw('application/gzip'),
    handle: ({ subject, ctx, reply }) => openExport(ctx, reply, { of: 'group', id: subject.id }),
  }),
]
