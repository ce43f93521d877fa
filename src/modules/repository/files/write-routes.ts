import { endpoint } from '../../../api/endpoint.ts'
import { FilePath, Filled, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { maxPathLength } from '../../../git/format/path-length.ts'
import { project } from '../../projects/index.ts'
import { authorParams, maxContentBytes, maxMessageLength } from '../commits/write-params.ts'
import { writeFile } from './write-service.ts'
import { WrittenFile } from './written-file.ts'

const common = {
  file_path: FilePath({ maxLength: maxPathLength, description: 'Full path of the file, URL-encoded' }),
  branch: Filled({ description: 'Branch to commit to' }),
  start_branch: Optional(Text({ description: 'Branch from which to create a new one' })),
  ...authorParams,
  commit_message: Filled({ maxLength: maxMessageLength, description: 'Message of the commit' }),
} as const

const content = {
  content: Text({ description: 'Whole content of the file, in the encoding of `encoding`' }),
  encoding: Optional(OneOf(['text', 'base64'], { description: 'Encoding of the content; default: text' })),
} as const

const lastCommit = {
  last_commit_id: Optional(
    Text({ description: 'Last known commit of the file; the call fails if the file changed since' }),
  ),
} as const

const shared = {
  path: '/projects/:id/repository/files/:file_path',
  subject: project,
  allow: 'request_commit',
} as const

export const fileWriteRoutes = [
  endpoint({
    ...shared,
    method: 'POST',
    summary: 'Create a file',
    bodyLimit: maxContentBytes,
    params: Params({ ...common, ...content }),
    returns: WrittenFile,
    handle: ({ subject, params, ctx }) => writeFile(ctx, subject, 'create', params),
  }),

  endpoint({
    ...shared,
    method: 'PUT',
    summary: 'Update a file',
    bodyLimit: maxContentBytes,
    params: Params({ ...common, ...content, ...lastCommit }),
    returns: WrittenFile,
    handle: ({ subject, params, ctx }) => writeFile(ctx, subject, 'update', params),
  }),

  endpoint({
    ...shared,
    method: 'DELETE',
    summary: 'Delete a file',
    params: Params({ ...common, ...lastCommit }),
    returns: null,
    async handle({ subject, params, ctx }) {
      await writeFile(ctx, subject, 'delete', params)
    },
  }),
]
