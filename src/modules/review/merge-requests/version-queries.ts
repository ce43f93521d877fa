import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, nullable, oneOf, type RowOf, textOf, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { unchecked } from './merge-status-queries.ts'

/** A version of a merge request. */
export type Version = {
  /** Heads of the source and the target branch; null while a branch is missing. */
  readonly head: Oid | null
  readonly start: Oid | null
  /** Null also if the histories are unrelated. */
  readonly base: Oid | null
  readonly state: 'collected' | 'empty' | 'overflow'
  /** Changed files; with `overflow` the list is incomplete. */
  readonly files: number
  readonly overflow: boolean
  /** Newest first. */
  readonly commits: readonly Oid[]
  /** IDs of the users who committed them. */
  readonly committers: readonly number[]
}

/** The heads of the newest version of a merge request; undefined before the first. */
export const newestHeads = (
  tx: Tx,
  mergeRequestId: number,
): Promise<{ head_oid: Oid | null; start_oid: Oid | null } | undefined> =>
  tx.row(
    { head_oid: nullable(textOf<Oid>()), start_oid: nullable(textOf<Oid>()) },
    sql`
      select d.head_oid, d.start_oid
      from merge_requests m join merge_request_diffs d on d.id = m.diff_id
      where m.id = ${mergeRequestId}
    `,
  )

/** Records the newest version of a merge request, and resets its merge status unless there is evidently nothing to merge. */
export const insertVersion = (tx: Tx, mergeRequestId: number, version: Version): Promise<number> =>
  tx.run(sql`
    with diff as (
      insert into merge_request_diffs (
        merge_request_id, state, head_oid, start_oid, base_oid, files, overflow, commits
      )
      values (
        ${mergeRequestId}, ${version.state}, ${version.head}, ${version.start}, ${version.base},
        ${version.files}, ${version.overflow}, ${version.commits.length}
      )
      returning id
    ),
    listed as (
      insert into merge_request_commits (diff_id, position, oid)
      select diff.id, c.position, c.oid
      from diff, unnest(${version.commits}::text[]) with ordinality as c (oid, position)
    ),
    gone as (
      delete from merge_request_committers
      where merge_request_id = ${mergeRequestId} and user_id <> all(${version.committers}::bigint[])
    ),
    committed as (
      insert into merge_request_committers (user_id, merge_request_id)
      select u.id, ${mergeRequestId}
      from users u
      where u.id = any(${version.committers}::bigint[])
      on conflict do nothing
    )
    update merge_requests m
    set diff_id = diff.id, merge_status_source_oid = ${version.head}, merge_status_target_oid = ${version.start},
      merge_status = case when ${version.commits.length === 0} then 'cannot_be_merged' else ${unchecked} end
    from diff
    where m.id = ${mergeRequestId}
  `)

/** A version as it is stored. */
export const versionRow = {
  id: integer,
  merge_request_id: integer,
  state: oneOf<Version['state'] | 'without_files'>('collected', 'empty', 'overflow', 'without_files'),
  head_oid: nullable(textOf<Oid>()),
  start_oid: nullable(textOf<Oid>()),
  base_oid: nullable(textOf<Oid>()),
  files: integer,
  overflow: boolean,
  created_at: timestamp,
}
export type VersionRow = RowOf<typeof versionRow>

const columns = raw(
  'd.id, d.merge_request_id, d.state, d.head_oid, d.start_oid, d.base_oid, d.files, d.overflow, d.created_at',
)

/** Newest first, without empty versions. */
export const versionsOf = (mergeRequestId: number): List => ({
  type: 'MergeRequestVersion',
  select: sql`select ${columns} from merge_request_diffs d`,
  from: raw('from merge_request_diffs d'),
  where: [sql`d.merge_request_id = ${mergeRequestId}`, raw(`d.state <> 'empty'`)],
  order: [{ by: raw('d.id'), direction: 'desc' }],
})

export const findVersionRow = (db: Db, mergeRequestId: number, id: number): Promise<VersionRow | undefined> =>
  db.row(
    versionRow,
    sql`select ${columns} from merge_request_diffs d where d.merge_request_id = ${mergeRequestId} and d.id = ${id}`,
  )

/** Commits of a version, newest first. */
export const commitsOf = (versionId: number): List => ({
  type: 'Commit',
  select: raw('select c.oid from merge_request_commits c'),
  from: raw('from merge_request_commits c'),
  where: [sql`c.diff_id = ${versionId}`],
  order: [{ by: raw('c.position'), direction: 'asc' }],
})

/** All of them in one result. */
export const commitIdsOf = async (db: Db, versionId: number): Promise<Oid[]> =>
  (
    await db.rows(
      { oid: textOf<Oid>() },
      sql`select oid from merge_request_commits where diff_id = ${versionId} order by position`,
    )
  ).map(({ oid }) => oid)
