import type { Db } from '../../../db/db.ts'
import { boolean, bytes, integer, json, notNull, nullable, type RowOf, text } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { userReferenceColumns, userReferenceRow } from '../../accounts/index.ts'
import { newestPipelineIdSql } from '../../ci/index.ts'
import { timeSpentSql } from '../../discussion/index.ts'
import { payloadTime, reviewerIdsSql } from '../hook-events/facts-queries.ts'

export const projectBlockRow = {
  id: integer,
  name: text,
  description: nullable(text),
  avatar: nullable(text),
  full_path: text,
  namespace_name: text,
  visibility: integer,
  default_branch: nullable(text),
  ci_config_path: nullable(text),
  repository_storage: text,
  repository_key: text,
}
export type ProjectBlockRow = RowOf<typeof projectBlockRow>

/** A project as payloads show it; undefined if it is gone or being deleted. */
export const findProjectBlock = (db: Db, id: number): Promise<ProjectBlockRow | undefined> =>
  db.row(
    projectBlockRow,
    sql`
      select p.id, p.name, p.description, p.avatar, p.full_path, n.name as namespace_name, p.visibility,
        p.default_branch, p.settings ->> 'ci_config_path' as ci_config_path, p.repository_storage, p.repository_key
      from projects p join namespaces n on n.id = p.namespace_id
      where p.id = ${id} and not p.deleting
    `,
  )

export const userBlockRow = { ...userReferenceRow, public_email: text }
export type UserBlockRow = RowOf<typeof userBlockRow>

/** Users in the order of their ids. */
export const findUserBlocks = (db: Db, ids: readonly number[]): Promise<UserBlockRow[]> =>
  db.rows(
    userBlockRow,
    sql`select ${userReferenceColumns}, u.public_email from users u where u.id = any(${ids}::bigint[]) order by u.id`,
  )

export const labelBlockRow = {
  id: integer,
  title: text,
  color: text,
  project_id: nullable(integer),
  group_id: nullable(integer),
  description: nullable(text),
  created_at: text,
  updated_at: text,
}
export type LabelBlockRow = RowOf<typeof labelBlockRow>

/** Labels by title. */
export const findLabelBlocks = (db: Db, ids: readonly number[]): Promise<LabelBlockRow[]> =>
  db.rows(
    labelBlockRow,
    sql`
      select l.id, l.title, l.color, l.project_id, l.namespace_id as group_id, l.description,
        ${payloadTime('l.created_at')} as created_at, ${payloadTime('l.updated_at')} as updated_at
      from labels l
      where l.id = any(${ids}::bigint[])
      order by l.title, l.id
    `,
  )

/** Attributes of issues and merge requests that payloads compute from others. */
export type Planned = {
  id: number
  iid: number
  project_id: number
  author_id: number
  title: string
  description: string | null
  state: string
  milestone_id: number | null
  discussion_locked: boolean | null
  time_estimate: number
  total_time_spent: number
  created_at: string
  updated_at: string
  closed_at: string | null
  label_ids: number[]
  assignee_ids: number[]
}

export type IssueRow = Planned & {
  confidential: boolean
  due_date: string | null
  weight: number | null
  relative_position: number | null
  moved_to_id: number | null
}

const plannedColumns = (type: 'Issue' | 'MergeRequest') => {
  const column = raw(type === 'Issue' ? 'issue_id' : 'merge_request_id')
  const [labels, assignees] =
    type === 'Issue'
      ? [raw('issue_labels'), raw('issue_assignees')]
      : [raw('merge_request_labels'), raw('merge_request_assignees')]
  return sql`
    'id', m.id, 'iid', m.iid, 'project_id', m.project_id, 'author_id', m.author_id, 'title', m.title, 'description',
    m.description, 'state', m.state, 'milestone_id', m.milestone_id, 'discussion_locked', m.discussion_locked,
    'time_estimate', m.time_estimate, 'total_time_spent', ${timeSpentSql(type, raw('m.id'))}, 'created_at',
    ${payloadTime('m.created_at')}, 'updated_at', ${payloadTime('m.updated_at')}, 'closed_at',
    ${payloadTime('m.closed_at')}, 'label_ids',
    (select coalesce(json_agg(l.label_id), '[]') from ${labels} l where l.${column} = m.id), 'assignee_ids',
    (select coalesce(json_agg(a.user_id order by a.user_id), '[]') from ${assignees} a where a.${column} = m.id)
  `
}

export const findIssueRow = async (db: Db, id: number): Promise<IssueRow | undefined> =>
  (
    await db.row(
      { issue: json<IssueRow>() },
      sql`
        select json_build_object(
          ${plannedColumns('Issue')}, 'confidential', m.confidential, 'due_date', m.due_date, 'weight', m.weight,
          'relative_position', m.relative_position, 'moved_to_id', m.moved_to_id
        ) as issue
        from issues m
        where m.id = ${id}
      `,
    )
  )?.issue

/** The confidential ones of these issues. */
export async function confidentialAmong(db: Db, issueIds: readonly number[]): Promise<ReadonlySet<number>> {
  if (issueIds.length === 0) return new Set()
  const rows = await db.rows(
    { id: integer },
    sql`select id from issues where id = any(${issueIds}::bigint[]) and confidential`,
  )
  return new Set(rows.map(({ id }) => id))
}

export type MergeRequestRow = Planned & {
  reviewer_ids: number[]
  head_pipeline_id: number | null
  merge_commit_sha: string | null
  merge_error: string | null
  force_remove_source_branch: boolean | null
  merge_status: string
  merge_user_id: number | null
  merge_when_pipeline_succeeds: boolean
  source_branch: string
  source_project_id: number | null
  target_branch: string
  head: string | null
}

export const findMergeRequestRow = async (db: Db, id: number): Promise<MergeRequestRow | undefined> =>
  (
    await db.row(
      { merge_request: json<MergeRequestRow>() },
      sql`
        select json_build_object(
          ${plannedColumns('MergeRequest')}, 'head_pipeline_id',
          ${newestPipelineIdSql(raw('m.source_project_id'), raw('d.head_oid'), raw('m.source_branch'))},
          'merge_commit_sha', m.merge_commit_oid, 'merge_error', m.merge_error, 'force_remove_source_branch',
          m.force_remove_source_branch, 'merge_status', m.merge_status, 'merge_user_id',
          coalesce(m.merged_by_id, m.auto_merge_user_id), 'merge_when_pipeline_succeeds',
          m.auto_merge_oid is not null, 'source_branch', m.source_branch, 'source_project_id',
          m.source_project_id, 'target_branch', m.target_branch, 'head', d.head_oid, 'reviewer_ids',
          ${reviewerIdsSql}
        ) as merge_request
        from merge_requests m left join merge_request_diffs d on d.id = m.diff_id
        where m.id = ${id}
      `,
    )
  )?.merge_request

export const noteRow = {
  id: integer,
  project_id: notNull(integer),
  author_id: integer,
  body: text,
  discussion_id: nullable(text),
  position: nullable(json<Record<string, unknown>>()),
  threaded: boolean,
  system: boolean,
  resolved_at: nullable(text),
  resolved_by_id: nullable(integer),
  created_at: text,
  updated_at: text,
  issue_id: nullable(integer),
  merge_request_id: nullable(integer),
  snippet_id: nullable(integer),
  commit_oid: nullable(text),
  changed_line: nullable(json<object>()),
}
export type NoteRow = RowOf<typeof noteRow>

/** A note in a project; undefined for one on an epic. */
export const findNoteRow = (db: Db, id: number): Promise<NoteRow | undefined> =>
  db.row(
    noteRow,
    sql`
      select n.id, n.project_id, n.author_id, n.body, n.discussion_id, n.position, n.threaded, n.system,
        ${payloadTime('n.resolved_at')} as resolved_at, n.resolved_by_id, ${payloadTime('n.created_at')} as created_at,
        ${payloadTime('n.updated_at')} as updated_at, n.issue_id, n.merge_request_id, n.snippet_id, m.oid as commit_oid,
        n.changed_line
      from notes n left join commented_commits m on m.id = n.commit_id
      where n.id = ${id} and n.project_id is not null
    `,
  )

const noteSnippetRow = {
  id: integer,
  title: text,
  author_id: integer,
  project_id: nullable(integer),
  created_at: text,
  updated_at: text,
  file_name: text,
  visibility_level: integer,
  description: nullable(text),
}

export const findSnippetRow = (db: Db, id: number): Promise<RowOf<typeof noteSnippetRow> | undefined> =>
  db.row(
    noteSnippetRow,
    sql`
      select s.id, s.title, s.author_id, s.project_id, ${payloadTime('s.created_at')} as created_at,
        ${payloadTime('s.updated_at')} as updated_at, s.file_name, s.visibility as visibility_level, s.description
      from snippets s
      where s.id = ${id}
    `,
  )

export const pipelineRow = {
  id: integer,
  ref: text,
  tag: boolean,
  sha: text,
  source: text,
  status: text,
  user_id: nullable(integer),
  created_at: text,
  started_at: nullable(text),
  finished_at: nullable(text),
  duration: nullable(integer),
  stages: json<string[]>(),
  /** The newest open merge request of the ref. */
  merge_request_id: nullable(integer),
}
export type PipelineRow = RowOf<typeof pipelineRow>

export const findPipelineRow = (db: Db, id: number): Promise<PipelineRow | undefined> =>
  db.row(
    pipelineRow,
    sql`
      select p.id, p.ref, p.tag, p.sha, p.source, p.status, p.user_id, ${payloadTime('p.created_at')} as created_at,
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
    `,
  )

export const statusRow = {
  id: integer,
  name: text,
  stage: text,
  status: text,
  pipeline_id: integer,
  allow_failure: boolean,
  failure_reason: nullable(text),
  user_id: nullable(integer),
  created_at: text,
  started_at: nullable(text),
  finished_at: nullable(text),
  duration: nullable(integer),
}
export type StatusRow = RowOf<typeof statusRow>

export const findStatusRow = (db: Db, id: number): Promise<StatusRow | undefined> =>
  db.row(
    statusRow,
    sql`
      select s.id, s.name, s.stage, s.status, s.pipeline_id, s.allow_failure, s.failure_reason, s.user_id,
        ${payloadTime('s.created_at')} as created_at, ${payloadTime('s.started_at')} as started_at,
        ${payloadTime('s.finished_at')} as finished_at,
        extract(epoch from s.finished_at - s.started_at)::integer as duration
      from commit_statuses s
      where s.id = ${id}
    `,
  )

export const releaseRow = {
  id: integer,
  name: nullable(text),
  description: text,
  created_at: text,
  released_at: text,
  links: json<{ id: number; name: string; url: string; link_type: string; external: true }[]>(),
}
export type ReleaseRow = RowOf<typeof releaseRow>

export const findReleaseRow = (db: Db, projectId: number, tag: string): Promise<ReleaseRow | undefined> =>
  db.row(
    releaseRow,
    sql`
      select r.id, r.name, r.description, ${payloadTime('r.created_at')} as created_at,
        coalesce(${payloadTime('r.released_at')}, ${payloadTime('r.created_at')}) as released_at,
        (
          select coalesce(
            json_agg(
              json_build_object(
                'id', l.id, 'name', l.name, 'url', l.url, 'link_type', l.link_type, 'external', true
              )
              order by l.id
            ),
            '[]'
          )
          from release_links l
          where l.release_id = r.id
        ) as links
      from releases r
      where r.project_id = ${projectId} and r.tag = ${tag}
    `,
  )

const refChangeRow = { ref: bytes, old_oid: nullable(text), new_oid: nullable(text) }

/** The refs that a push moved, in its order; refs whose names are not UTF-8 have replacement characters. */
export async function movedRefs(
  db: Db,
  pushId: number,
): Promise<{ name: string; from: string | null; to: string | null }[]> {
  const rows = await db.rows(
    refChangeRow,
    sql`
      select c.ref, c.old_oid, c.new_oid
      from ref_changes c
      where c.push_id = ${pushId} and c.moved
      order by c.position, c.ref
    `,
  )
  return rows.map(({ ref, old_oid, new_oid }) => ({ name: ref.toString('utf8'), from: old_oid, to: new_oid }))
}

export const groupBlockRow = {
  id: integer,
  name: text,
  path: text,
  full_path: text,
  parent_id: nullable(integer),
  created_at: text,
  updated_at: text,
}
export type GroupBlockRow = RowOf<typeof groupBlockRow>

export const findGroupBlock = (db: Db, id: number): Promise<GroupBlockRow | undefined> =>
  db.row(
    groupBlockRow,
    sql`
      select g.id, g.name, g.path, g.full_path, g.parent_id, ${payloadTime('g.created_at')} as created_at,
        ${payloadTime('g.updated_at')} as updated_at
      from namespaces g
      where g.id = ${id}
    `,
  )
