import { Type } from 'typebox'
import { endpoint, raw } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, Params, Text } from '../../../api/params/types.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { project } from '../projects/subject.ts'
import { type ListedUploadRow, listedUploadRow, uploadsOf } from './queries.ts'
import { openUpload, removeUpload } from './service.ts'

const ListedUpload = entity({
  name: 'ListedUpload',
  schema: Type.Object({
    id: Type.Integer(),
    size: Type.Integer({ description: 'Bytes' }),
    filename: Type.String(),
    created_at: timestamp(),
    uploaded_by: nullable(Type.Object({ id: Type.Integer(), name: Type.String(), username: Type.String() }), {
      description: 'Null if the user was deleted',
    }),
  }),
  present: ({ uploader, ...upload }: ListedUploadRow) => ({ ...upload, uploaded_by: uploader }),
})

const byId = Params({ upload_id: Id({ description: 'ID of the upload' }) })
const byAddress = Params({
  secret: Text({ description: 'Secret part of the URL' }),
  filename: Text({ description: 'File name as in the URL' }),
})

export const storedUploadRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/uploads',
    summary: 'List uploads of a project',
    description: 'Newest first.',
    subject: project,
    allow: 'admin_upload',
    paged: true,
    returns: ListedUpload,
    handle: ({ subject, page, ctx }) => fetchPage(ctx.db, listedUploadRow, uploadsOf(subject.id), page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/uploads/:upload_id',
    summary: 'Download an uploaded file',
    subject: project,
    allow: 'admin_upload',
    params: byId,
    returns: raw('application/octet-stream'),
    handle: ({ subject, params, reply, ctx }) => openUpload(ctx, reply, subject, { id: params.upload_id }),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/uploads/:secret/:filename',
    summary: 'Download an uploaded file by path',
    description: 'For every user who may read the project.',
    subject: project,
    allow: 'read_project',
    params: byAddress,
    returns: raw('application/octet-stream'),
    handle: ({ subject, params, reply, ctx }) => openUpload(ctx, reply, subject, params),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/uploads/:upload_id',
    summary: 'Delete an uploaded file',
    subject: project,
    allow: 'remove_upload',
    params: byId,
    returns: null,
    handle: ({ subject, params, ctx }) => removeUpload(ctx, subject, { id: params.upload_id }),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/uploads/:secret/:filename',
    summary: 'Delete an uploaded file by path',
    subject: project,
    allow: 'remove_upload',
    params: byAddress,
    returns: null,
    handle: ({ subject, params, ctx }) => removeUpload(ctx, subject, params),
  }),
]
