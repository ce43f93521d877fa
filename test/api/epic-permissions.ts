import { absent, discussionRows, long, none, type Row } from './permission-rows.ts'

const at = '/groups/:id/epics/:epic_iid'

/** Operations on epics that are not confidential. */
export const epicRows: readonly Row[] = [
  ['GET /groups/:id/epics', 'guest L', 200],
  ['POST /groups/:id/epics', 'reporter -', 201, { json: { title: 'x' } }],
  [`GET ${at}`, 'guest L', 200],
  [`PUT ${at}`, 'reporter -', 200, { json: { title: 'x' } }],
  [`DELETE ${at}`, 'owner -', 412, { headers: long }],
  [`GET ${at}/issues`, 'guest L', 200],
  [`POST ${at}/issues/:epic_issue_id`, 'reporter -', 404, none('epic_issue_id')],
  [`PUT ${at}/issues/:epic_issue_id`, 'reporter -', 404, { json: { move_after_id: absent }, ...none('epic_issue_id') }],
  [`DELETE ${at}/issues/:epic_issue_id`, 'reporter -', 404, none('epic_issue_id')],
  ...['epics', 'links'].flatMap((word): Row[] => [
    [`GET ${at}/${word}`, 'guest L', 200],
    [`POST ${at}/${word}`, 'reporter -', 201, { json: { title: 'x' } }],
    [`POST ${at}/${word}/:child_epic_id`, 'reporter -', 404, none('child_epic_id')],
    [
      `PUT ${at}/${word}/:child_epic_id`,
      'reporter -',
      404,
      { json: { move_after_id: absent }, ...none('child_epic_id') },
    ],
    [`DELETE ${at}/${word}/:child_epic_id`, 'reporter -', 404, none('child_epic_id')],
  ]),
  [`POST ${at}/todo`, 'guest L', [201, 304]],
  [`POST ${at}/todos`, 'guest L', [201, 304]],
  [`GET ${at}/participants`, 'guest L', 200],
  [`POST ${at}/subscribe`, 'guest L', [201, 304]],
  [`POST ${at}/unsubscribe`, 'guest L', [201, 304]],

  ...discussionRows(at, 'guest L', 'guest L'),

  ...(['label', 'state'] as const).flatMap((word): Row[] => [
    [`GET ${at}/resource_${word}_events`, 'guest L', 200],
    [`GET ${at}/resource_${word}_events/:resource_${word}_event_id`, 'guest L', 404, none(`resource_${word}_event_id`)],
  ]),
]
