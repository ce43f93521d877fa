import { raw, type Sql, sql } from '../../../db/sql.ts'
import { labelsTableOf, timeSpentSql } from '../../discussion/index.ts'
import type { FactsOf } from './rules.ts'

/** A time in the format of payloads: `2017-09-15 16:50:55 UTC`. */
export const payloadTime = (column: string): Sql =>
  raw(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')`)

/** A number in the payload of the event `e`. */
const numberIn = (name: string): Sql => raw(`(e.payload ->> '${name}')::bigint`)

/** Attributes that issues and merge requests have in common, of the row `m`. */
const planned = (type: 'Issue' | 'MergeRequest'): Sql => {
  const [column, assignees] =
    type === 'Issue'
      ? [raw('issue_id'), raw('issue_assignees')]
      : [raw('merge_request_id'), raw('merge_request_assignees')]
  return sql`
    'title', m.title, 'state', m.state, 'milestone_id', m.milestone_id, 'discussion_locked', m.discussion_locked,
    'time_estimate', m.time_estimate, 'total_time_spent', ${timeSpentSql(type, raw('m.id'))}, 'updated_at',
    ${payloadTime('m.updated_at')}, 'label_ids',
    (select coalesce(jsonb_agg(ml.label_id), '[]') from ${labelsTableOf(type)} ml where ml.${column} = m.id),
    'assignee_ids',
    (select coalesce(jsonb_agg(a.user_id order by a.user_id), '[]') from ${assignees} a where a.${column} = m.id)
  `
}

const issueFacts = (id: Sql) => sql`
  (
    select jsonb_build_object(
      ${planned('Issue')}, 'confidential', m.confidential, 'due_date', m.due_date, 'weight', m.weight,
      'relative_position', m.relative_position, 'moved_to_id', m.moved_to_id, 'closed_at',
      ${payloadTime('m.closed_at')}
    )
    from issues m
    where m.id = ${id}
  )
`

/** Ids of the reviewers of the merge request `m`. */
export const reviewerIdsSql: Sql = sql`
  (
    select coalesce(jsonb_agg(r.user_id order by r.user_id), '[]')
    from merge_request_reviewers r
    where r.merge_request_id = m.id
  )
`

const mergeRequestFacts = (id: Sql) => sql`
  (
    select jsonb_build_object(
      ${planned('MergeRequest')}, 'merge_status', m.merge_status, 'target_branch', m.target_branch,
      'merge_error', m.merge_error, 'merge_commit_sha', m.merge_commit_oid, 'head', d.head_oid, 'reviewer_ids',
      ${reviewerIdsSql}
    )
    from merge_requests m left join merge_request_diffs d on d.id = m.diff_id
    where m.id = ${id}
  )
`

/** Of the project with this id, an expression. */
export const projectFacts = (id: Sql): Sql => sql`
  (
    select jsonb_build_object(
      'name', p.name, 'path', p.path, 'path_with_namespace', p.full_path, 'visibility', p.visibility,
      'owner_name', coalesce(u.name, n.name), 'owner_email', coalesce(u.email, ''), 'created_at',
      ${payloadTime('p.created_at')}, 'updated_at', ${payloadTime('p.updated_at')}
    )
    from projects p join namespaces n on n.id = p.namespace_id left join users u on u.id = n.owner_id
    where p.id = ${id}
  )
`

/** Of the group with this id, an expression. */
export const groupFacts = (id: Sql): Sql => sql`
  (
    select jsonb_build_object(
      'name', g.name, 'path', g.path, 'full_path', g.full_path, 'created_at', ${payloadTime('g.created_at')},
      'updated_at', ${payloadTime('g.updated_at')}, 'parent_id', g.parent_id, 'ancestor_ids', g.traversal_ids
    )
    from namespaces g
    where g.id = ${id}
  )
`

const statements: Readonly<Record<FactsOf, Sql>> = {
  issue: issueFacts(numberIn('issue_id')),
  merge_request: mergeRequestFacts(numberIn('merge_request_id')),
  note: sql`
    (
      select jsonb_build_object('confidential', m.confidential)
      from issues m
      where e.payload ->> 'noteable_type' = 'Issue' and m.id = ${numberIn('noteable_id')}
    )
  `,
  status: sql`
    (
      select jsonb_build_object(
        'status', s.status, 'started_at', ${payloadTime('s.started_at')}, 'finished_at',
        ${payloadTime('s.finished_at')}, 'duration', extract(epoch from s.finished_at - s.started_at)
      )
      from commit_statuses s
      where s.id = ${numberIn('status_id')}
    )
  `,
  pipeline: sql`
    (
      select jsonb_build_object(
        'ref', p.ref, 'tag', p.tag, 'status', p.status, 'finished_at', ${payloadTime('p.finished_at')},
        'duration', p.duration
      )
      from pipelines p
      where p.id = ${numberIn('pipeline_id')}
    )
  `,
  project: projectFacts(raw('e.project_id')),
  group: groupFacts(raw('e.group_id')),
  user: sql`
    (
      select jsonb_build_object(
        'name', u.name, 'username', u.username, 'email', u.email, 'public_email', u.public_email, 'state',
        u.state, 'created_at', ${payloadTime('u.created_at')}, 'updated_at', ${payloadTime('u.updated_at')}
      )
      from users u
      where u.id = ${numberIn('user_id')}
    )
  `,
}

/** What must be read in the transaction of the event `e`, as one JSON object; null if its row is gone. */
export const factsSql = (of: FactsOf): Sql => statements[of]
