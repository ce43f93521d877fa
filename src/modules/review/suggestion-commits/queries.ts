import type { Db } from '../../../db/db.ts'
import { boolean, integer, listOf, nullable, type RowOf, text, textOf } from '../../../db/row.ts'
import { isLongAgo, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'

/** A commit that applies suggestions, and to which the source branch may not have moved. */
const suggestionCommitRow = {
  /** Distinguishes attempts that make the same commit. */
  token: text,
  merge_request_id: integer,
  commit_oid: textOf<Oid>(),
  suggestion_ids: listOf(integer),
  /** The user who applies them; null if the account is deleted. */
  user_id: nullable(integer),
  /** Whether that user may resolve their discussions. */
  resolves: boolean,
}
export type SuggestionCommit = RowOf<typeof suggestionCommitRow>

/** Stores what a commit applies, or the next commit of the same attempt in its place. One statement. */
export const intendCommit = (db: Db, commit: SuggestionCommit): Promise<number> =>
  db.run(sql`
    insert into suggestion_commits (
      token, merge_request_id, commit_oid, suggestion_ids, user_id, resolves, last_push_id
    )
    select ${commit.token}::uuid, m.id, ${commit.commit_oid}, ${commit.suggestion_ids}::bigint[], ${commit.user_id},
      ${commit.resolves}, (select coalesce(max(p.id), 0) from pushes p where p.project_id = m.source_project_id)
    from merge_requests m
    where m.id = ${commit.merge_request_id}
    on conflict (token) do update set commit_oid = excluded.commit_oid
  `)

export const deleteCommit = (db: Db, token: string): Promise<number> =>
  db.run(sql`delete from suggestion_commits where token = ${token}::uuid`)

/** What the journal of pushes says of a commit: the source branch moved to it, or a push that is not settled may move it there. */
const intendedCommitRow = { ...suggestionCommitRow, moved: boolean, moving: boolean }
export type IntendedCommit = RowOf<typeof intendedCommitRow>

const commitsWhere = (condition: Sql): Sql => {
  const pushWhere = (is: Sql) => sql`
    exists (
      select
      from pushes p join ref_changes r on r.push_id = p.id
      where p.project_id = m.source_project_id
        and p.id > c.last_push_id
        and r.ref = convert_to('refs/heads/' || m.source_branch, 'UTF8')
        and r.new_oid = c.commit_oid
        and ${is}
    )
  `
  return sql`
    select c.token, c.merge_request_id, c.commit_oid, c.suggestion_ids, c.user_id, c.resolves,
      ${pushWhere(raw('r.moved'))} as moved, ${pushWhere(raw(`p.state = 'intended'`))} as moving
    from suggestion_commits c join merge_requests m on m.id = c.merge_request_id
    where ${condition}
    order by c.created_at, c.token
    limit 1000
  `
}

/** The commit of an attempt; undefined if it has been settled. */
export const findCommit = (db: Db, token: string): Promise<IntendedCommit | undefined> =>
  db.row(intendedCommitRow, commitsWhere(sql`c.token = ${token}::uuid`))

/** The commits of a merge request whose suggestions are not marked as applied, oldest first; at most 1,000. */
export const commitsOf = (db: Db, mergeRequestId: number): Promise<IntendedCommit[]> =>
  db.rows(intendedCommitRow, commitsWhere(sql`c.merge_request_id = ${mergeRequestId}`))

/** Those that were stored this many seconds ago, oldest first; at most 1,000. */
export const oldCommits = (db: Db, olderThanSeconds: number): Promise<IntendedCommit[]> =>
  db.rows(
    intendedCommitRow,
    commitsWhere(isLongAgo(raw('c.created_at'), sql`make_interval(secs => ${olderThanSeconds}::double precision)`)),
  )
