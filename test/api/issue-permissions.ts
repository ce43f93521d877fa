import { long, none, type Row } from './permission-rows.ts'

const at = '/projects/:id/issues/:issue_iid'
const notes = `${at}/notes`
const discussions = `${at}/discussions`

/** Operations on issues that are not confidential. */
export const issueRows: readonly Row[] = [
  ['POST /projects/:id/issues', 'guest L live', 201, { json: { title: 'x' } }],
  [`GET ${at}`, 'guest L', 200],
  [`PUT ${at}`, 'reporter - live', 200, { json: { title: 'x' } }],
  [`DELETE ${at}`, 'owner - live', 412, { headers: long }],
  // For callers who pass this check, permissions in both projects decide.
  [`POST ${at}/move`, 'guest L', 400, { json: { to_project_id: ':id' } }],
  [`POST ${at}/clone`, 'guest L', [201, 400], { json: { to_project_id: ':id' } }],
  [`GET ${at}/user_agent_detail`, 'administrator -', 200],
  [`GET ${at}/participants`, 'guest L', 200],
  [`POST ${at}/subscribe`, 'guest L', [201, 304]],
  [`POST ${at}/unsubscribe`, 'guest L', [201, 304]],
  [`POST ${at}/todo`, 'guest L', [201, 304]],

  [`GET ${notes}`, 'guest L', 200],
  [`POST ${notes}`, 'guest L live', 201, { json: { body: 'x' } }],
  [`GET ${notes}/:note_id`, 'guest L', 200],
  [`PUT ${notes}/:note_id`, 'maintainer - live', 200, { json: { body: 'x' } }],
  [`DELETE ${notes}/:note_id`, 'maintainer - live', 412, { headers: long }],
  [`GET ${discussions}`, 'guest L', 200],
  [`POST ${discussions}`, 'guest L live', 201, { json: { body: 'x' } }],
  [`GET ${discussions}/:discussion_id`, 'guest L', 200],
  [`GET ${discussions}/:discussion_id/notes`, 'guest L', 200],
  [`POST ${discussions}/:discussion_id/notes`, 'guest L live', 201, { json: { body: 'x' } }],
  [`GET ${discussions}/:discussion_id/notes/:note_id`, 'guest L', 200],
  [
    `PUT ${discussions}/:discussion_id/notes/:note_id`,
    'maintainer - live',
    200,
    { json: { body: 'x' }, also: ['admin_note'] },
  ],
  [`DELETE ${discussions}/:discussion_id/notes/:note_id`, 'maintainer - live', 412, { headers: long }],

  ...[at, `${notes}/:note_id`].flatMap((awarded): Row[] => [
    [`GET ${awarded}/award_emoji`, 'guest L', 200],
    [`POST ${awarded}/award_emoji`, 'guest L live', [201, 404], { json: { name: 'tada' } }],
    [`GET ${awarded}/award_emoji/:award_id`, 'guest L', 404, none('award_id')],
    [`DELETE ${awarded}/award_emoji/:award_id`, 'guest L live', 404, none('award_id')],
  ]),

  [`GET ${at}/time_stats`, 'guest L', 200],
  [`POST ${at}/time_estimate`, 'reporter - live', 200, { json: { duration: '1h' } }],
  [`POST ${at}/reset_time_estimate`, 'reporter - live', 200],
  [`POST ${at}/add_spent_time`, 'reporter - live', 201, { json: { duration: '1h' } }],
  [`POST ${at}/reset_spent_time`, 'reporter - live', 200],

  ...(['label', 'milestone', 'state'] as const).flatMap((word): Row[] => [
    [`GET ${at}/resource_${word}_events`, 'guest L', 200],
    [`GET ${at}/resource_${word}_events/:resource_${word}_event_id`, 'guest L', 404, none(`resource_${word}_event_id`)],
  ]),
]
