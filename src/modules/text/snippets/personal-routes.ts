import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Optional, Params } from '../../../api/params/types.ts'
import { Snippet } from './entity.ts'
import { allSnippets, createdBetween, publicSnippets, snippetsOfUser } from './list-queries.ts'
import { oneSnippetRoutes } from './one-routes.ts'
import { createdParams, createParams, createRules, maxBodyBytes, newFiles, visibility } from './params.ts'
import { personalSnippet, personalSnippets } from './personal-subject.ts'
import { snippetRow } from './queries.ts'
import { createSnippet } from './service.ts'

const path = '/snippets'

const one = oneSnippetRoutes(`${path}/:id`, personalSnippet, {
  get: 'Get a personal snippet',
  update: 'Update a personal snippet',
  delete: 'Delete a personal snippet',
  raw: 'Get raw personal snippet content',
  file: 'Get raw personal snippet file',
  agent: 'Get user agent of personal snippet',
})

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

  ...one,
]
