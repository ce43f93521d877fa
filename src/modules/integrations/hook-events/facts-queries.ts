import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { FactsOf } from './rules.ts'

/** A time in the format of payloads: `2017-09-15 16:50:55 UTC`. */
export const payloadTime = (column: string): Sql =>
  raw(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')`)

/** A number in the payload of the event `e`. */
export const numberIn = (name: string): Sql => raw(`(e.payload ->> '${name}')::bigint`)

/** Ids of the reviewers of the merge request `m`. */
export const reviewerIdsSql: Sql = sql`
  (
    select coalesce(jsonb_agg(r.user_id order by r.user_id), '[]')
    from merge_request_reviewers r
    where r.merge_request_id = m.id
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
  issue: sql`
    (select jsonb_build_object('confidential', m.confidential) from issues m where m.id = ${numberIn('issue_id')})
  `,
  note: sql`
    (
      select jsonb_build_object('confidential', m.confidential)
      from issues m
      where e.payload ->> 'noteable_type' = 'Issue' and m.id = ${numberIn('noteable_id')}
    )
  `,
  pipeline: sql`
    (
      select jsonb_build_object('ref', p.ref, 'tag', p.tag, 'status', p.status)
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
