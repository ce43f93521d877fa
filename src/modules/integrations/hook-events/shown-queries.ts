import { join, raw, type Sql, sql } from '../../../db/sql.ts'
import { userReferenceColumns } from '../../accounts/index.ts'
import { newestPipelineIdSql } from '../../ci/index.ts'
import { labelsTableOf, timeSpentSql } from '../../discussion/index.ts'
import { numberIn, payloadTime, reviewerIdsSql } from './facts-queries.ts'
import type { HookedEvent } from './rules.ts'

/*
 * The rows that payloads show. Each statement reads one by its key, an expression: when the event is recorded, because the row may be gone
 * when the payload is built, and when it is built, for an event without the row, such as a test of a hook.
 */

/** A project as payloads show it, also while it is being deleted. */
export const projectBlockSql = (id: Sql): Sql => sql`
  select p.id, p.name, p.description, p.avatar, p.full_path, n.name as namespace_name, p.visibility, p.default_branch,
    p.settings ->> 'ci_config_path' as ci_config_path, p.repository_storage, p.repository_key
  from projects p join namespaces n on n.id = p.namespace_id
  where p.id = ${id}
`

export const groupBlockSql = (id: Sql): Sql => sql`
  select g.id, g.name, g.path, g.full_path, g.parent_id, ${payloadTime('g.created_at')} as created_at,
    ${payloadTime('g.updated_at')} as updated_at
  from namespaces g
  where g.id = ${id}
`

/** Users in the order of their ids. */
export const userBlocksSql = (ids: Sql): Sql =>
  sql`select ${userReferenceColumns}, u.public_email from users u where u.id = any(${ids}) order by u.id`

/** Labels by title. */
export const labelBlocksSql = (ids: Sql): Sql => sql`
  select l.id, l.title, l.color, l.project_id, l.namespace_id as group_id, l.description,
    ${payloadTime('l.created_at')} as created_at, ${payloadTime('l.updated_at')} as updated_at
  from labels l
  where l.id = any(${ids})
  order by l.title, l.id
`

const plannedColumns = (type: 'Issue' | 'MergeRequest') => {
  const [column, assignees] =
    type === 'Issue'
      ? [raw('issue_id'), raw('issue_assignees')]
      : [raw('merge_request_id'), raw('merge_request_assignees')]
  return sql`
    'id', m.id, 'iid', m.iid, 'project_id', m.project_id, 'author_id', m.author_id, 'title', m.title, 'description',
    m.description, 'state', m.state, 'milestone_id', m.milestone_id, 'discussion_locked', m.discussion_locked,
    'time_estimate', m.time_estimate, 'total_time_spent', ${timeSpentSql(type, raw('m.id'))}, 'created_at',
    ${payloadTime('m.created_at')}, 'updated_at', ${payloadTime('m.updated_at')}, 'closed_at',
    ${payloadTime('m.closed_at')}, 'label_ids',
    (select coalesce(jsonb_agg(l.label_id), '[]') from ${labelsTableOf(type)} l where l.${column} = m.id),
    'assignee_ids',
    (select coalesce(jsonb_agg(a.user_id order by a.user_id), '[]') from ${assignees} a where a.${column} = m.id)
  `
}

/** An issue as one JSON object, `row`. */
export const issueSql = (id: Sql): Sql => sql`
  select jsonb_build_object(
    ${plannedColumns('Issue')}, 'confidential', m.confidential, 'due_date', m.due_date, 'weight', m.weight,
    'relative_position', m.relative_position, 'moved_to_id', m.moved_to_id, 'duplicated_to_id',
    m.duplicated_to_id
  ) as row
  from issues m
  where m.id = ${id}
`

/** A merge request as one JSON object, `row`. */
export const mergeRequestSql = (id: Sql): Sql => sql`
  select jsonb_build_object(
    ${plannedColumns('MergeRequest')}, 'head_pipeline_id',
    ${newestPipelineIdSql(raw('m.source_project_id'), raw('d.head_oid'), raw('m.source_branch'))},
    'merge_commit_sha', m.merge_commit_oid, 'merge_error', m.merge_error, 'force_remove_source_branch',
    m.force_remove_source_branch, 'merge_status', m.merge_status, 'merge_user_id',
    coalesce(m.merged_by_id, m.auto_merge_user_id), 'merge_when_pipeline_succeeds', m.auto_merge_oid is not null,
    'source_branch', m.source_branch, 'source_project_id', m.source_project_id, 'target_branch', m.target_branch,
    'head', d.head_oid, 'reviewer_ids', ${reviewerIdsSql}
  ) as row
  from merge_requests m left join merge_request_diffs d on d.id = m.diff_id
  where m.id = ${id}
`

/** A note in a project; none on an epic. */
export const noteSql = (id: Sql): Sql => sql`
  select n.id, n.project_id, n.author_id, n.body, n.discussion_id, n.position, n.threaded, n.system,
    ${payloadTime('n.resolved_at')} as resolved_at, n.resolved_by_id, ${payloadTime('n.created_at')} as created_at,
    ${payloadTime('n.updated_at')} as updated_at, n.issue_id, n.merge_request_id, n.snippet_id, m.oid as commit_oid,
    n.changed_line
  from notes n left join commented_commits m on m.id = n.commit_id
  where n.id = ${id} and n.project_id is not null
`

export const snippetSql = (id: Sql): Sql => sql`
  select s.id, s.title, s.author_id, s.project_id, ${payloadTime('s.created_at')} as created_at,
    ${payloadTime('s.updated_at')} as updated_at, s.file_name, s.visibility as visibility_level, s.description
  from snippets s
  where s.id = ${id}
`

export const pipelineSql = (id: Sql): Sql => sql`
  select p.id, p.iid, p.ref, p.tag, p.sha, p.source, p.status, p.user_id, ${payloadTime('p.created_at')} as created_at,
    ${payloadTime('p.started_at')} as started_at, ${payloadTime('p.finished_at')} as finished_at, p.duration,
    (
      select coalesce(json_agg(s.stage order by s.index, s.stage), '[]')
      from (
        select c.stage, min(c.stage_index) as index
        from commit_statuses c
        where c.pipeline_id = p.id
        group by c.stage
      ) as s
    ) as stages,
    (
      select max(m.id)
      from merge_requests m
      where m.source_project_id = p.project_id and m.source_branch = p.ref and m.state = 'opened' and not p.tag
    ) as merge_request_id
  from pipelines p
  where p.id = ${id}
`

export const statusSql = (id: Sql): Sql => sql`
  select s.id, s.name, s.stage, s.status, s.pipeline_id, s.allow_failure, s.failure_reason, s.user_id,
    ${payloadTime('s.created_at')} as created_at, ${payloadTime('s.started_at')} as started_at,
    ${payloadTime('s.finished_at')} as finished_at,
    case
      when s.finished_at - s.started_at is not null then least(
        greatest(extract(epoch from s.finished_at - s.started_at), -2147483648), 2147483647
      )::integer
    end as duration
  from commit_statuses s
  where s.id = ${id}
`

export const releaseSql = (projectId: Sql, tag: Sql): Sql => sql`
  select r.id, r.name, r.description, ${payloadTime('r.created_at')} as created_at,
    coalesce(${payloadTime('r.released_at')}, ${payloadTime('r.created_at')}) as released_at,
    (
      select coalesce(
        json_agg(
          json_build_object('id', l.id, 'name', l.name, 'url', l.url, 'link_type', l.link_type, 'external', true)
          order by l.id
        ),
        '[]'
      )
      from release_links l
      where l.release_id = r.id
    ) as links
  from releases r
  where r.project_id = ${projectId} and r.tag = ${tag}
`

/** The refs that a push moved, in its order. */
export const movedRefsSql = (pushId: Sql): Sql => sql`
  select c.ref, c.old_oid, c.new_oid
  from ref_changes c
  where c.push_id = ${pushId} and c.moved
  order by c.position, c.ref
`

/** Maximum refs of a push that are recorded: a larger one is sent only as long as its project is there. */
const recordedRefs = raw('1000')

const asObject = (row: Sql): Sql => sql`(select to_jsonb(r) from (${row}) as r)`
const asList = (rows: Sql): Sql => sql`(select coalesce(jsonb_agg(r), '[]') from (${rows}) as r)`
const rowIn = (row: Sql): Sql => sql`(select r.row from (${row}) as r)`

/** Maximum characters of a recorded description or comment: each event has a copy. */
const recordedText = raw('32768')

/** An object whose text is cut, and says so with `cut`. */
const withCut = (object: Sql, name: 'description' | 'body'): Sql => {
  const text = raw(`r.object ->> '${name}'`)
  return sql`
    (
      select r.object || case
        when length(${text}) > ${recordedText} then jsonb_build_object(
          ${raw(`'${name}'`)}, left(${text}, ${recordedText}), 'cut', true
        )
        else '{}'
      end
      from (select ${object} as object) as r
    )
  `
}

const issueIn = (id: Sql): Sql => withCut(rowIn(issueSql(id)), 'description')
const mergeRequestIn = (id: Sql): Sql => withCut(rowIn(mergeRequestSql(id)), 'description')

/** Of what has this key, with those that its changes name. */
const labelsOf = (type: 'Issue' | 'MergeRequest', key: Sql): Sql =>
  asList(
    labelBlocksSql(sql`
      array(
        select t.label_id
        from ${labelsTableOf(type)} t
        where t.${raw(type === 'Issue' ? 'issue_id' : 'merge_request_id')} = ${key}
        union
        select coalesce(v.each ->> 'id', v.each #>> '{}')::bigint
        from jsonb_path_query(e.payload, '$.changes.labels[*][*]') as v (each)
        where jsonb_typeof(v.each) = 'number' or v.each ? 'id'
      )
    `),
  )

/** Without addresses that are not public. */
const usersOf = (ids: Sql): Sql =>
  sql`(select coalesce(jsonb_agg(to_jsonb(r) - 'email'), '[]') from (${userBlocksSql(sql`array(${ids})`)}) as r)`

const actorId = raw('select e.actor_id')

const issueRows = (id: Sql): Sql => sql`
  'issue', ${issueIn(id)}, 'labels', ${labelsOf('Issue', id)}, 'users',
  ${usersOf(sql`${actorId} union select a.user_id from issue_assignees a where a.issue_id = ${id}`)}
`

const mergeRequestRows = (id: Sql): Sql => sql`
  'merge_request', ${mergeRequestIn(id)}, 'labels', ${labelsOf('MergeRequest', id)}, 'users',
  ${usersOf(sql`
    ${actorId}
    union
    select a.user_id
    from merge_request_assignees a
    where a.merge_request_id = ${id}
    union
    select r.user_id
    from merge_request_reviewers r
    where r.merge_request_id = ${id}
  `)}
`

/** The id of what a note is about, if it is of this type. */
const noteableIn = (type: string): Sql =>
  sql`case e.payload ->> 'noteable_type' when ${raw(`'${type}'`)} then ${numberIn('noteable_id')} end`

const ofActor = sql`'users', ${usersOf(actorId)}`

const projectRows = sql`'project', ${asObject(projectBlockSql(raw('e.project_id')))}`
const groupRows = sql`'group', ${asObject(groupBlockSql(raw('e.group_id')))}`

/** The rows of what notes are about, of the types that occur. */
const noteableRows = (type: string): Sql => {
  const id = noteableIn(type)
  if (type === 'Issue') return sql`, 'issue', ${issueIn(id)}`
  if (type === 'MergeRequest') return sql`, 'merge_request', ${mergeRequestIn(id)}`
  return type === 'Snippet' ? sql`, 'snippet', ${withCut(asObject(snippetSql(id)), 'description')}` : raw('')
}

const labelsOfNoteables = (types: readonly string[]): Sql => {
  const cases = (['Issue', 'MergeRequest'] as const).filter((type) => types.includes(type))
  if (cases.length === 0) return raw('')
  return sql`, 'labels', case e.payload ->> 'noteable_type' ${join(
    cases.map((type) => sql`when ${raw(`'${type}'`)} then ${labelsOf(type, noteableIn(type))}`),
    ' ',
  )} end`
}

const notes = (types: readonly string[]): Sql => sql`
  ${projectRows}, ${ofActor}, 'note',
  ${withCut(asObject(noteSql(numberIn('note_id'))), 'body')}${join(types.map(noteableRows), '')}${labelsOfNoteables(types)}
`
const pipeline = (id: Sql): Sql => sql`${projectRows}, ${ofActor}, 'pipeline', ${asObject(pipelineSql(id))}`
const releaseIn = withCut(asObject(releaseSql(raw('e.project_id'), raw(`e.payload ->> 'tag'`))), 'description')
const release = sql`${projectRows}, 'release', ${releaseIn}`
const pushed = sql`
  ${projectRows}, ${ofActor}, 'refs',
  (
    select coalesce(
      jsonb_agg(
        jsonb_build_object('ref', encode(c.ref, 'hex'), 'old_oid', c.old_oid, 'new_oid', c.new_oid)
        order by c.number
      ),
      '[]'
    )
    from (
      select c.*, row_number() over () as number
      from (${movedRefsSql(numberIn('push_id'))} limit ${recordedRefs}) as c
    ) as c
  )
`
const status = sql`${pipeline(numberIn('pipeline_id'))}, 'status', ${asObject(statusSql(numberIn('status_id')))}`
const wikiPage = sql`${projectRows}, ${groupRows}, ${ofActor}`
const issue = sql`${projectRows}, ${issueRows(numberIn('issue_id'))}`
const mergeRequest = sql`${projectRows}, ${mergeRequestRows(numberIn('merge_request_id'))}`

const parentOf = (groupId: Sql): Sql =>
  sql`'parent', ${asObject(groupBlockSql(sql`(select c.parent_id from namespaces c where c.id = ${groupId})`))}`

/** What the payload of the deletion of a group shows. */
export const shownOfGroup = (groupId: Sql): Sql => sql`jsonb_build_object(${parentOf(groupId)})`

type Shown = { readonly kind: HookedEvent; readonly payload: object }

/** Of kinds whose payload is made of facts, there are none. */
const rowsOf = (events: readonly Shown[]): Sql | undefined => {
  const { kind } = events[0]!
  if (kind === 'pushed') return pushed
  if (kind === 'note_created')
    return notes([...new Set(events.map(({ payload }) => (payload as { noteable_type: string }).noteable_type))].sort())
  if (kind === 'pipeline_changed') return pipeline(numberIn('pipeline_id'))
  if (kind === 'commit_status_changed') return status
  if (kind.startsWith('issue_')) return issue
  if (kind.startsWith('merge_request_')) return mergeRequest
  if (kind.startsWith('release_')) return release
  if (kind.startsWith('wiki_page_')) return wikiPage
  if (kind.startsWith('member_')) return sql`${projectRows}, ${groupRows}`
  if (kind.startsWith('group_')) return parentOf(raw('e.group_id'))
  return undefined
}

/** The rows that payloads of the event `e` show, as one JSON object. `e` is any of these events, which are of one kind. */
export const shownSql = (events: readonly Shown[]): Sql => {
  const rows = rowsOf(events)
  return rows ? sql`jsonb_build_object(${rows})` : raw(`'{}'::jsonb`)
}
