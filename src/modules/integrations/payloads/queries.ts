import type { Db } from '../../../db/db.ts'
import { boolean, bytes, integer, json, notNull, nullable, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { userReferenceRow } from '../../accounts/index.ts'
import {
  groupBlockSql,
  issueSql,
  labelBlocksSql,
  mergeRequestSql,
  movedRefsSql,
  noteSql,
  pipelineSql,
  projectBlockSql,
  releaseSql,
  snippetSql,
  statusSql,
  userBlocksSql,
} from '../hook-events/shown-queries.ts'

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

/** A project as payloads show it, also while it is being deleted. */
export const findProjectBlock = (db: Db, id: number): Promise<ProjectBlockRow | undefined> =>
  db.row(projectBlockRow, projectBlockSql(sql`${id}`))

export const userBlockRow = { ...userReferenceRow, public_email: text }
export type UserBlockRow = RowOf<typeof userBlockRow>

/** Users in the order of their ids. */
export const findUserBlocks = (db: Db, ids: readonly number[]): Promise<UserBlockRow[]> =>
  db.rows(userBlockRow, userBlocksSql(sql`${ids}::bigint[]`))

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
  db.rows(labelBlockRow, labelBlocksSql(sql`${ids}::bigint[]`))

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
  duplicated_to_id: number | null
}

export const findIssueRow = async (db: Db, id: number): Promise<IssueRow | undefined> =>
  (await db.row({ row: json<IssueRow>() }, issueSql(sql`${id}`)))?.row

/**
 * The confidential ones of these issues. One that is gone counts if an event that was recorded for hooks found it confidential, as the event does that
 * made it so.
 */
export async function confidentialAmong(db: Db, issueIds: readonly number[]): Promise<ReadonlySet<number>> {
  if (issueIds.length === 0) return new Set()
  const rows = await db.rows(
    { id: integer },
    sql`
      select m.id
      from issues m
      where m.id = any(${issueIds}::bigint[]) and m.confidential
      union all
      select gone.id
      from unnest(${issueIds}::bigint[]) as gone (id)
      where not exists (select from issues m where m.id = gone.id)
        and exists (
          select
          from hook_events e
          where (e.payload ->> 'issue_id')::bigint = gone.id
            and e.facts ->> 'confidential' = 'true'
            and e.payload ? 'issue_id'
        )
    `,
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
  (await db.row({ row: json<MergeRequestRow>() }, mergeRequestSql(sql`${id}`)))?.row

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
export const findNoteRow = (db: Db, id: number): Promise<NoteRow | undefined> => db.row(noteRow, noteSql(sql`${id}`))

export const snippetRow = {
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

export type SnippetRow = RowOf<typeof snippetRow>

export const findSnippetRow = (db: Db, id: number): Promise<SnippetRow | undefined> =>
  db.row(snippetRow, snippetSql(sql`${id}`))

export const pipelineRow = {
  id: integer,
  iid: integer,
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
  db.row(pipelineRow, pipelineSql(sql`${id}`))

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
  db.row(statusRow, statusSql(sql`${id}`))

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
  db.row(releaseRow, releaseSql(sql`${projectId}`, sql`${tag}`))

const refChangeRow = { ref: bytes, old_oid: nullable(text), new_oid: nullable(text) }

/** The refs that a push moved, in its order; refs whose names are not UTF-8 have replacement characters. */
export async function movedRefs(
  db: Db,
  pushId: number,
): Promise<{ name: string; from: string | null; to: string | null }[]> {
  const rows = await db.rows(refChangeRow, movedRefsSql(sql`${pushId}`))
  return rows.map(({ ref, old_oid, new_oid }) => ({ name: ref.toString('utf8'), from: old_oid, to: new_oid }))
}

/** Where the next push of the project that moved a branch found it; undefined if none of the next thousand did. */
export const tipAfterPush = async (
  db: Db,
  { projectId, pushId, ref }: { projectId: number; pushId: number; ref: Buffer },
): Promise<string | null | undefined> =>
  (
    await db.row(
      { old_oid: nullable(text) },
      sql`
        select c.old_oid
        from (select id from pushes where project_id = ${projectId} and id > ${pushId} order by id limit 1000) as q
          join ref_changes c on c.push_id = q.id and c.ref = ${ref}
        where c.moved
        order by q.id
        limit 1
      `,
    )
  )?.old_oid

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
  db.row(groupBlockRow, groupBlockSql(sql`${id}`))
