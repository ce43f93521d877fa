import { discussionRows, long, type Row } from './permission-rows.ts'

const at = '/projects/:id/snippets/:snippet_id'

/** Operations on public snippets of projects, which an administrator wrote. */
export const snippetRows: readonly Row[] = [
  ['GET /projects/:id/snippets', 'guest P', 200],
  [
    'POST /projects/:id/snippets',
    'reporter - live',
    201,
    { json: { title: 'x', file_name: 'x', content: 'x', visibility: 'private' } },
  ],
  [`GET ${at}`, 'guest P', 200],
  [`PUT ${at}`, 'maintainer - live', 200, { json: { title: 'x' } }],
  [`DELETE ${at}`, 'maintainer - live', 412, { headers: long }],
  [`GET ${at}/raw`, 'guest P', 200],
  [`GET ${at}/files/:ref/:file_path/raw`, 'guest P', 200, { at: { ':ref': 'master' } }],
  [`GET ${at}/user_agent_detail`, 'administrator -', 200],

  ...discussionRows(at, 'guest P', 'guest L live'),
]
