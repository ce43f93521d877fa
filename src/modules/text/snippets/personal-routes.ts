import { endpoint, raw } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Optional, Params } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { UserAgentDetail } from '../../planning/index.ts'
import { findSnippetAgent } from './edit-queries.ts'
import { Snippet } from './entity.ts'
import { allSnippets, createdBetween, publicSnippets, snippetsOfUser } from './list-queries.ts'
import {
  changedFiles,
  createdParams,
  createParams,
  createRules,
  editParams,
  editRules,
  maxBodyBytes,
  newFiles,
  visibility,
} from './params.ts'
import { personalSnippet, personalSnippets } from './personal-subject.ts'
import { snippetRow } from './queries.ts'
import { rawFile, rawSnippet } from './raw.ts'
import { fileParams, rawHeaders } from './routes.ts'
import { createSnippet, editSnippet, removeSnippet } from './service.ts'

const path = '/snippets'
const one = `${path}/:id` as const

export const personalSnippetRoutes = [
  endpoint({
    method: 'GET',
    path,
    summary: 'List personal snippets of the caller',
    description: 'Newest first.',
    subject: personalSnippets,
    allow: 'list_own',
    params: Params(createdParams),
    paged: true,
    returns: Snippet,
    handle: ({ params, page, ctx }) =>
      fetchPage(
        ctx.db,
        snippetRow,
        snippetsOfUser(ctx.actor!.id, createdBetween(params.created_after, params.created_before)),
        page,
      ),
  }),

  endpoint({
    method: 'GET',
    path: `${path}/public`,
    summary: 'List public personal snippets',
    description: 'Newest first.',
    subject: personalSnippets,
    allow: 'list_own',
    params: Params(createdParams),
    paged: true,
    returns: Snippet,
    handle: ({ params, page, ctx }) =>
      fetchPage(ctx.db, snippetRow, publicSnippets(createdBetween(params.created_after, params.created_before)), page),
  }),

  endpoint({
    method: 'GET',
    path: `${path}/all`,
    summary: 'List all snippets',
    description: 'Personal snippets and those of projects, newest first; only for administrators.',
    subject: personalSnippets,
    allow: 'list_all',
    params: Params(createdParams),
    paged: true,
    returns: Snippet,
    handle: ({ params, page, ctx }) =>
      fetchPage(ctx.db, snippetRow, allSnippets(createdBetween(params.created_after, params.created_before)), page),
  }),

  endpoint({
    method: 'POST',
    path,
    summary: 'Create a personal snippet',
    description: 'Either `file_name` and `content`, or `files`. Not for external users.',
    subject: personalSnippets,
    allow: 'create_snippet',
    bodyLimit: maxBodyBytes,
    params: Params({ ...createParams, visibility: Optional(visibility) }, createRules),
    returns: Snippet,
    handle: ({ params, ctx }) =>
      createSnippet(ctx, null, {
        ...params,
        visibility: params.visibility ?? ctx.settings.default_snippet_visibility,
        files: newFiles(params),
      }),
  }),

  endpoint({
    method: 'GET',
    path: one,
    summary: 'Get a personal snippet',
    subject: personalSnippet,
    allow: 'read_snippet',
    returns: Snippet,
    handle: async ({ subject }) => subject,
  }),

  endpoint({
    method: 'PUT',
    path: one,
    summary: 'Update a personal snippet',
    subject: personalSnippet,
    allow: 'update_snippet',
    bodyLimit: maxBodyBytes,
    params: Params(editParams, editRules),
    returns: Snippet,
    handle: ({ subject, params, ctx }) => editSnippet(ctx, subject.id, { ...params, files: changedFiles(params) }),
  }),

  endpoint({
    method: 'DELETE',
    path: one,
    summary: 'Delete a personal snippet',
    subject: personalSnippet,
    allow: 'remove_snippet',
    changedAt: ({ updated_at }) => updated_at,
    returns: null,
    handle: ({ subject, ctx }) => removeSnippet(ctx, subject.id),
  }),

  endpoint({
    method: 'GET',
    path: `${one}/raw`,
    summary: 'Get raw personal snippet content',
    description: 'The content of its first file.',
    subject: personalSnippet,
    allow: 'read_snippet',
    headers: rawHeaders,
    returns: raw('text/plain'),
    handle: ({ subject, ...wanted }) => rawSnippet(subject, wanted),
  }),

  endpoint({
    method: 'GET',
    path: `${one}/files/:ref/:file_path/raw`,
    summary: 'Get raw personal snippet file',
    subject: personalSnippet,
    allow: 'read_snippet',
    params: fileParams,
    headers: rawHeaders,
    returns: raw('text/plain'),
    handle: ({ subject, params, ...wanted }) => rawFile(subject, { ref: params.ref, path: params.file_path }, wanted),
  }),

  endpoint({
    method: 'GET',
    path: `${one}/user_agent_detail`,
    summary: 'Get user agent of personal snippet',
    description: 'Address and client of the request that created the snippet; only for administrators.',
    subject: personalSnippet,
    allow: 'read_user_agent',
    returns: UserAgentDetail,
    async handle({ subject, ctx }) {
      const agent = await findSnippetAgent(ctx.db, subject.id)
      if (!agent) throw notFound('UserAgentDetail')
      return agent
    },
  }),
]
