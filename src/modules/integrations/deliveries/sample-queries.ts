import type { Db } from '../../../db/db.ts'
import { integer, json, nullable, type RowOf } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { aboutColumns, projectTypes } from '../../discussion/index.ts'
import { projectsIn } from '../../groups/index.ts'
import type { HookHolder } from '../hooks/holder.ts'
import type { Flag } from '../hooks/triggers.ts'

const sampleRow = {
  project_id: nullable(integer),
  group_id: nullable(integer),
  actor_id: nullable(integer),
  payload: json<Record<string, unknown>>(),
  part: integer,
}
export type Sample = RowOf<typeof sampleRow>

const inPlace = (holder: HookHolder): Sql => sql`
  not p.deleting and ${holder.of === 'instance' ? raw('true') : projectsIn({ of: holder.of, id: holder.id! })}
`

const newest = (table: string, author: string, payload: string | Sql, more: string, holder: HookHolder): Sql => sql`
  select m.project_id, null::bigint as group_id, ${raw(author)}::bigint as actor_id,
    ${typeof payload === 'string' ? raw(payload) : payload} as payload, 0 as part
  from ${raw(table)} m join projects p on p.id = m.project_id
  where ${inPlace(holder)} and ${raw(more)}
  order by m.id desc
  limit 1
`

const push = (folder: string, holder: HookHolder): Sql => sql`
  select m.project_id, null::bigint as group_id, m.actor_id, json_build_object('push_id', m.id) as payload,
    (
      select count(*)
      from ref_changes b
      where b.push_id = m.id and b.moved and (b.position, b.ref) < (c.position, c.ref)
    )::integer as part
  from pushes m
    join projects p on p.id = m.project_id
    join ref_changes c on c.push_id = m.id and c.moved and starts_with(encode(c.ref, 'escape'), ${folder})
  where ${inPlace(holder)} and m.state = 'done'
  order by m.id desc
  limit 1
`

const issueOf = (confidential: boolean, holder: HookHolder): Sql =>
  newest(
    'issues',
    'm.author_id',
    `json_build_object('issue_id', m.id, 'iid', m.iid)`,
    confidential ? 'm.confidential' : 'not m.confidential',
    holder,
  )

const noteOf = (confidential: boolean, holder: HookHolder): Sql =>
  newest(
    'notes',
    'm.author_id',
    sql`(select to_json(about) from (select m.id as note_id, ${aboutColumns('m', projectTypes)}) as about)`,
    `not m.system and ${confidential ? '' : 'not '}exists (
      select from issues i where i.id = m.issue_id and i.confidential
    )`,
    holder,
  )

const samples: Readonly<Partial<Record<Flag, (holder: HookHolder) => Sql>>> = {
  push_events: (holder) => push('refs/heads/', holder),
  tag_push_events: (holder) => push('refs/tags/', holder),
  repository_update_events: (holder) => push('refs/', holder),
  issues_events: (holder) => issueOf(false, holder),
  confidential_issues_events: (holder) => issueOf(true, holder),
  note_events: (holder) => noteOf(false, holder),
  confidential_note_events: (holder) => noteOf(true, holder),
  merge_requests_events: (holder) =>
    newest(
      'merge_requests',
      'm.author_id',
      `json_build_object('merge_request_id', m.id, 'iid', m.iid)`,
      'true',
      holder,
    ),
  pipeline_events: (holder) =>
    newest('pipelines', 'm.user_id', `json_build_object('pipeline_id', m.id)`, 'true', holder),
  job_events: (holder) =>
    newest('commit_statuses', 'm.user_id', `json_build_object('status_id', m.id)`, 'true', holder),
  releases_events: (holder) => newest('releases', 'm.author_id', `json_build_object('tag', m.tag)`, 'true', holder),
  member_events: ({ id }) => sql`
    select null::bigint as project_id, m.namespace_id as group_id, m.user_id as actor_id,
      json_build_object('user_id', m.user_id, 'access_level', m.access_level, 'expires_at', m.expires_at) as payload,
      0 as part
    from members m
    where m.namespace_id = ${id ?? 0}
    order by m.id desc
    limit 1
  `,
}

/** The newest record of a project, a group or the installation about which hooks with a flag receive events. */
export async function findSample(db: Db, holder: HookHolder, flag: Flag): Promise<Sample | undefined> {
  const statement = samples[flag]
  return statement && db.row(sampleRow, statement(holder))
}
