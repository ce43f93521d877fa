import { endpoint, raw } from '../../../api/endpoint.ts'
import { FilePath, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'
import { project } from '../../projects/index.ts'
import { suffixes } from './names.ts'
import { archiveBody } from './service.ts'

const which = {
  sha: Optional(Text({ description: 'Branch, tag or commit; default: the default branch' })),
  path: Optional(FilePath({ maxLength: maxPathLength, description: 'Only this file or directory' })),
}

const headers = { 'Content-Disposition': 'Name of the file: project, ref and commit' }

export const archiveRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/archive',
    summary: 'Download a repository archive',
    description: 'Returns the files of one commit.',
    subject: project,
    allow: 'read_code',
    params: Params({
      ...which,
      format: OneOf(suffixes, { default: 'tar.gz', description: 'Archive format; may also be the suffix of the path' }),
    }),
    headers,
    returns: raw('application/octet-stream'),
    handle: ({ subject, params, ctx, reply, head }) =>
      archiveBody(ctx, subject, { ...params, suffix: params.format }, { reply, head }),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/archive.:format',
    summary: 'Download an archive by format',
    description: 'The suffix of the path chooses the format.',
    subject: project,
    allow: 'read_code',
    params: Params({ ...which, format: OneOf(suffixes, { description: 'Format of the archive' }) }),
    headers,
    returns: raw('application/octet-stream'),
    handle: ({ subject, params, ctx, reply, head }) =>
      archiveBody(ctx, subject, { ...params, suffix: params.format }, { reply, head }),
  }),
]
