import { endpoint, raw } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { FilePath, Filled, Params } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { UserAgentDetail } from '../../planning/index.ts'
import { project } from '../../projects/index.ts'
import { findSnippetAgent } from './edit-queries.ts'
import { Snippet } from './entity.ts'
import { snippetsOfProject } from './list-queries.ts'
import {
  changedFiles,
  createParams,
  createRules,
  editParams,
  editRules,
  maxBodyBytes,
  newFiles,
  visibility,
} from './params.ts'
import { snippetRow } from './queries.ts'
import { rawFile, rawSnippet } from './raw.ts'
import { createSnippet, editSnippet, removeSnippet } from './service.ts'
import { snippet } from './subject.ts'

const path = '/projects/:id/snippets'
const one = `${path}/:snippet_id` as const

export const fileParams = Params({
  ref: Filled({ description: 'Branch or commit' }),
  file_path: FilePath({ blank: false, description: 'Path of the file, URL-encoded' }),
})

export const rawHeaders = { 'Content-Disposition': 'Name of the file' }

export const snippetRoutes = [
  endpoint({
    method: 'GET',
    path,
    summary: 'List snippets of a project',
    description: 'Newest first. Snippets that the caller cannot read are left out.',
    subject: project,
    allow: 'read_snippet',
    paged: true,
    returns: Snippet,
    handle: ({ subject, page, ctx }) => fetchPage(ctx.db, snippetRow, snippetsOfProject(ctx.actor, subject.id), page),
  }),

  endpoint({
    method: 'GET',
    path: one,
    summary: 'Get a snippet of a project',
    subject: snippet,
    allow: 'read_snippet',
    returns: Snippet,
    handle: async ({ subject }) => subject,
  }),

  endpoint({
    method: 'POST',
    path,
    summary: 'Create a snippet in a project',
    description: 'Either `file_name` and `content`, or `files`.',
    subject: project,
    allow: 'create_snippet',
    bodyLimit: maxBodyBytes,
    params: Params({ ...createParams, visibility }, createRules),
    returns: Snippet,
    handle: ({ subject, params, ctx }) => createSnippet(ctx, subject.id, { ...params, files: newFiles(params) }),
  }),

  endpoint({
    method: 'PUT',
    path: one,
    summary: 'Update a snippet of a project',
    description: 'For its author and for maintainers; internal snippets only for their author and administrators.',
    subject: snippet,
    allow: 'update_snippet',
    bodyLimit: maxBodyBytes,
    params: Params(editParams, editRules),
    returns: Snippet,
    handle: ({ subject, params, ctx }) => editSnippet(ctx, subject.id, { ...params, files: changedFiles(params) }),
  }),

  endpoint({
    method: 'DELETE',
    path: one,
    summary: 'Delete a snippet of a project',
    subject: snippet,
    allow: 'remove_snippet',
    changedAt: ({ updated_at }) => updated_at,
    returns: null,
    handle: ({ subject, ctx }) => removeSnippet(ctx, subject.id),
  }),

  endpoint({
    method: 'GET',
    path: `${one}/raw`,
    summary: 'Get raw content of a snippet',
    description: 'The content of its first file.',
    subject: snippet,
    allow: 'read_snippet',
    headers: rawHeaders,
    returns: raw('text/plain'),
    handle: ({ subject, ...wanted }) => rawSnippet(subject, wanted),
  }),

  endpoint({
    method: 'GET',
    path: `${one}/files/:ref/:file_path/raw`,
    summary: 'Get raw snippet file',
    subject: snippet,
    allow: 'read_snippet',
    params: fileParams,
    headers: rawHeaders,
    returns: raw('text/plain'),
    handle: ({ subject, params, ...wanted }) => rawFile(subject, { ref: params.ref, path: params.file_path }, wanted),
  }),

  endpoint({
    method: 'GET',
    path: `${one}/user_agent_detail`,
    summary: 'Get user agent of a snippet',
    description: 'Address and client of the request that created the snippet; only for administrators.',
    subject: snippet,
    allow: 'read_user_agent',
    returns: UserAgentDetail,
    async handle({ subject, ctx }) {
      const agent = await findSnippetAgent(ctx.db, subject.id)
      if (!agent) throw notFound('UserAgentDetail')
      return agent
    },
  }),
]
