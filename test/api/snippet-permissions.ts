import { long, none, type Row } from './permission-rows.ts'

const at = '/projects/:id/snippets/:snippet_id'
const notes = `${at}/notes`
const discussions = `${at}/discussions`

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

  [`GET ${notes}`, 'guest P', 200],
  [`POST ${notes}`, 'guest L live', 201, { json: { body: 'x' } }],
  [`GET ${notes}/:note_id`, 'guest P', 200],
  [`PUT ${notes}/:note_id`, 'maintainer - live', 200, { json: { body: 'x' } }],
  [`DELETE ${notes}/:note_id`, 'maintainer - live', 412, { headers: long }],
  [`GET ${discussions}`, 'guest P', 200],
  [`POST ${discussions}`, 'guest L live', 201, { json: { body: 'x' } }],
  [`GET ${discussions}/:discussion_id`, 'guest P', 200],
  [`GET ${discussions}/:discussion_id/notes`, 'guest P', 200],
  [`POST ${discussions}/:discussion_id/notes`, 'guest L live', 201, { json: { body: 'x' } }],
  [`GET ${discussions}/:discussion_id/notes/:note_id`, 'guest P', 200],
  [
    `PUT ${discussions}/:discussion_id/notes/:note_id`,
    'maintainer - live',
    200,
    { json: { body: 'x' }, also: ['admin_note'] },
  ],
  [`DELETE ${discussions}/:discussion_id/notes/:note_id`, 'maintainer - live', 412, { headers: long }],

  ...[at, `${notes}/:note_id`].flatMap((awarded): Row[] => [
    [`GET ${awarded}/award_emoji`, 'guest P', 200],
    [`POST ${awarded}/award_emoji`, 'guest L live', [201, 404], { json: { name: 'tada' } }],
    [`GET ${awarded}/award_emoji/:award_id`, 'guest P', 404, none('award_id')],
    [`DELETE ${awarded}/award_emoji/:award_id`, 'guest L live', 404, none('award_id')],
  ]),
]
