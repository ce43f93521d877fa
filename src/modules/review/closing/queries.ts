import { byKey, type Db, type Tx } from '../../../db/db.ts'
import { boolean, integer, notNull, nullable, oneOf, type RowOf, text, textOf } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { closesWhenMerged } from '../../planning/index.ts'
import { mergeRequestStates } from '../merge-requests/states.ts'

/** A merge request with what says which issues it closes. */
const closingMergeRequestRow = {
  id: integer,
  iid: integer,
  /** The target project. */
  project_id: integer,
  full_path: text,
  repository_storage: text,
  repository_key: text,
  /** The project from which the target was forked. */
  forked_from_project_id: nullable(integer),
  author_id: integer,
  state: oneOf(...mergeRequestStates),
  description: nullable(text),
  squash_commit_oid: nullable(textOf<Oid>()),
  diff_id: notNull(integer),
  /** The target is the default branch, and the project closes issues by text. */
  closes: boolean,
  /** Issues that it closes are stored. */
  stored: boolean,
}
export type ClosingMergeRequest = RowOf<typeof closingMergeRequestRow>

export const findClosingMergeRequest = (db: Db, id: number): Promise<ClosingMergeRequest | undefined> =>
  db.row(
    closingMergeRequestRow,
    sql`
      select m.id, m.iid, m.project_id, p.full_path, p.repository_storage, p.repository_key, p.forked_from_project_id,
        m.author_id, m.state, m.description, m.squash_commit_oid, m.diff_id, ${closesWhenMerged} is true as closes,
        exists (select from merge_requests_closing_issues c where c.merge_request_id = m.id) as stored
      from merge_requests m join projects p on p.id = m.project_id and not p.deleting
      where m.id = ${id}
    `,
  )

/** Makes these the issues that a merge request closes. */
export const replaceClosingIssues = (tx: Tx, mergeRequestId: number, issueIds: readonly number[]): Promise<number> =>
  tx.run(sql`
    with gone as (
      delete from merge_requests_closing_issues c
      where c.merge_request_id = ${mergeRequestId} and c.issue_id <> all(${issueIds}::bigint[])
    )
    insert into merge_requests_closing_issues (merge_request_id, issue_id)
    select m.id, i.id
    from merge_requests m, issues i
    where m.id = ${mergeRequestId} and i.id = any(${issueIds}::bigint[])
    on conflict do nothing
  `)

/**
 * Records that a merge request has its turn at an issue. False if it had one before, or if a commit of its newest version had, or if
 * either is gone.
 */
export const takeTurnOfMergeRequest = async (tx: Tx, issueId: number, mergeRequestId: number): Promise<boolean> => {
  const taken = await tx.row(
    { first: boolean },
    sql`
      insert into issue_closings (issue_id, merge_request_id)
      select i.id, m.id
      from issues i, merge_requests m
      where i.id = ${issueId} and m.id = ${mergeRequestId}
      on conflict do nothing
      returning not exists (
        select
        from merge_requests m
          join merge_request_commits mc on mc.diff_id = m.diff_id
          join issue_closings c on c.commit_oid = mc.oid and c.issue_id = ${issueId}
        where m.id = ${mergeRequestId}
      ) as first
    `,
  )
  return taken?.first ?? false
}

/** Records that a commit has its turn at an issue. False if it had one before, or if the issue is gone. */
export const takeTurnOfCommit = async (tx: Tx, issueId: number, oid: Oid): Promise<boolean> =>
  (await tx.run(sql`
    insert into issue_closings (issue_id, commit_oid)
    select id, ${oid}
    from issues
    where id = ${issueId}
    on conflict do nothing
  `)) > 0

/** Which of these issues have a note that the commit of a project closed them. */
export const closedByCommit = async (
  db: Db,
  projectId: number,
  oid: Oid,
  issueIds: readonly number[],
): Promise<number[]> => {
  const rows = await db.rows(
    { issue_id: notNull(integer) },
    sql`
      select n.issue_id
      from notes n
      where n.issue_id = any(${issueIds}::bigint[])
        and n.source_project_id = ${projectId}
        and n.source_commit = ${oid}
        and n.repeats
    `,
  )
  return rows.map(({ issue_id }) => issue_id)
}

/**
 * Which of these commits came into the default branch of a project by a merge request: these are commits of its newest version, and
 * those that the merge made. What they say they close, the merge request closes. Each commit is looked up by its id: the merge requests of
 * a project, whose commits would have to be read, may be many.
 */
export const broughtByMergeRequests = async (
  db: Db,
  projectId: number,
  branch: string,
  oids: readonly Oid[],
): Promise<Set<Oid>> => {
  const rows = await db.rows(
    { oid: notNull(textOf<Oid>()) },
    byKey(sql`
      select c.oid
      from merge_request_commits c
        cross join lateral (
          select project_id, target_branch, state from merge_requests where diff_id = c.diff_id offset 0
        ) as m
      where c.oid = any(${oids}::text[])
        and m.project_id = ${projectId}
        and m.target_branch = ${branch}
        and m.state in ('locked', 'merged')
      union
      select made.oid
      from merge_requests m
        cross join lateral (values (m.merging ->> 'merge_commit_oid'), (m.merging ->> 'squash_commit_oid')) as made (
          oid
        )
      where m.state = 'locked'
        and m.project_id = ${projectId}
        and m.target_branch = ${branch}
        and made.oid = any(${oids}::text[])
      union
      select m.merge_commit_oid
      from (
        select project_id, merge_commit_oid
        from merge_requests
        where merge_commit_oid = any(${oids}::text[])
        offset 0
      ) as m
      where m.project_id = ${projectId}
      union
      select m.squash_commit_oid
      from (
        select project_id, squash_commit_oid
        from merge_requests
        where squash_commit_oid = any(${oids}::text[])
        offset 0
      ) as m
      where m.project_id = ${projectId}
    `),
  )
  return new Set(rows.map(({ oid }) => oid))
}
