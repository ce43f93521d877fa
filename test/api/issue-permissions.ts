import { discussionRows, long, none, type Row } from './permission-rows.ts'

const at = '/projects/:id/issues/:issue_iid'

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

  ...discussionRows(at, 'guest L', 'guest L live'),

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
