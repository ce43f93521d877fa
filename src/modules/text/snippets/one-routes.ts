import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import { endpoint, raw, type Subject } from '../../../api/endpoint.ts'
import { FilePath, Filled, Params } from '../../../api/params/types.ts'
import { notFound } from '../../../kernel/failure.ts'
import { UserAgentDetail } from '../../planning/index.ts'
import { findSnippetAgent } from './edit-queries.ts'
import { Snippet } from './entity.ts'
import { changedFiles, editParams, editRules, maxBodyBytes } from './params.ts'
import type { SnippetRow } from './queries.ts'
import { rawFile, rawSnippet } from './raw.ts'
import { editSnippet, removeSnippet } from './service.ts'

type Ability = 'read_snippet' | 'update_snippet' | 'remove_snippet' | 'read_user_agent'

/** For the documentation. */
type Summaries = Readonly<Record<'get' | 'update' | 'delete' | 'raw' | 'file' | 'agent', string>>

const headers = { 'Content-Disposition': 'Name of the file' }

/** Endpoints of one snippet, shared by personal snippets and those of projects. */
export const oneSnippetRoutes = <T extends SnippetRow & { readonly facts: Facts }, A extends string, P extends TObject>(
  path: string,
  subject: Subject<T, A | Ability, P>,
  summaries: Summaries,
  whoUpdates?: string,
) => [
  endpoint({
    method: 'GET',
    path,
    summary: summaries.get,
    subject,
    allow: 'read_snippet',
    returns: Snippet,
    handle: async ({ subject }) => subject,
  }),

  endpoint({
    method: 'PUT',
    path,
    summary: summaries.update,
    ...(whoUpdates !== undefined && { description: whoUpdates }),
    subject,
    allow: 'update_snippet',
    bodyLimit: maxBodyBytes,
    params: Params(editParams, editRules),
    returns: Snippet,
    handle: ({ subject, params, ctx }) => editSnippet(ctx, subject, { ...params, files: changedFiles(params) }),
  }),

  endpoint({
    method: 'DELETE',
    path,
    summary: summaries.delete,
    subject,
    allow: 'remove_snippet',
    changedAt: ({ updated_at }) => updated_at,
    returns: null,
    handle: ({ subject, ctx }) => removeSnippet(ctx, subject.id),
  }),

  endpoint({
    method: 'GET',
    path: `${path}/raw`,
    summary: summaries.raw,
    description: 'The content of its first file.',
    subject,
    allow: 'read_snippet',
    headers,
    returns: raw('text/plain'),
    handle: ({ subject, ...wanted }) => rawSnippet(subject, wanted),
  }),

  endpoint({
    method: 'GET',
    path: `${path}/files/:ref/:file_path/raw`,
    summary: summaries.file,
    subject,
    allow: 'read_snippet',
    params: Params({
      ref: Filled({ description: 'Branch or commit' }),
      file_path: FilePath({ blank: false, description: 'Path of the file, URL-encoded' }),
    }),
    headers,
    returns: raw('text/plain'),
    handle: ({ subject, params, ...wanted }) => rawFile(subject, { ref: params.ref, path: params.file_path }, wanted),
  }),

  endpoint({
    method: 'GET',
    path: `${path}/user_agent_detail`,
    summary: summaries.agent,
    description: 'Address and client of the request that created the snippet; only for administrators.',
    subject,
    allow: 'read_user_agent',
    returns: UserAgentDetail,
    async handle({ subject, ctx }) {
      const agent = await findSnippetAgent(ctx.db, subject.id)
      if (!agent) throw notFound('UserAgentDetail')
      return agent
    },
  }),
]
