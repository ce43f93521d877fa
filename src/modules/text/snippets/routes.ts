import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Params } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { Snippet } from './entity.ts'
import { snippetsOfProject } from './list-queries.ts'
import { oneSnippetRoutes } from './one-routes.ts'
import { createParams, createRules, maxBodyBytes, newFiles, visibility } from './params.ts'
import { snippetRow } from './queries.ts'
import { createSnippet } from './service.ts'
import { snippet } from './subject.ts'

const path = '/projects/:id/snippets'

const one = oneSnippetRoutes(
  `${path}/:snippet_id`,
  snippet,
  {
    get: 'Get a snippet of a project',
    update: 'Update a snippet of a project',
    delete: 'Delete a snippet of a project',
    raw: 'Get raw content of a snippet',
    file: 'Get raw snippet file',
    agent: 'Get user agent of a snippet',
  },
  'For its author and for maintainers; internal snippets only for their author and administrators.',
)

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

  ...one,
]
