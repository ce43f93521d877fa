import type { Tx } from '../../db/db.ts'
import { sql } from '../../db/sql.ts'
import type { Oid } from '../../git/oid.ts'

/** What a merge request is about at a time. */
export type Version = {
  /** Of the source and the target branch; null while it is missing. */
  readonly head: Oid | null
  readonly start: Oid | null
  /** Null, too, where the histories have nothing in common. */
  readonly base: Oid | null
  readonly state: 'collected' | 'empty' | 'overflow'
  /** Files that differ, of which not all are told with `overflow`. */
  readonly files: number
  readonly overflow: boolean
  /** Newest first. */
  readonly commits: readonly Oid[]
}

/** The heads that the newest version of a merge request was made for; nothing before the first. */
export const newestHeads = (
  tx: Tx,
  mergeRequestId: number,
): Promise<{ head_oid: Oid | null; start_oid: Oid | null } | undefined> =>
  tx.row(sql`select d.head_oid, d.start_oid from merge_requests m join merge_request_diffs d on d.id = m.diff_id
    where m.id = ${mergeRequestId}`)

/**
 * Makes it the newest version of the merge request. Whether that can be merged is to be found out anew, unless it is plain that
 * there is nothing to merge.
 */
export const insertVersion = (tx: Tx, mergeRequestId: number, version: Version): Promise<number> =>
  tx.run(sql`
    with diff as (
      insert into merge_request_diffs (merge_request_id, state, head_oid, start_oid, base_oid, files, overflow, commits)
      values (${mergeRequestId}, ${version.state}, ${version.head}, ${version.start}, ${version.base}, ${version.files},
        ${version.overflow}, ${version.commits.length})
      returning id),
    listed as (
      insert into merge_request_commits (diff_id, position, oid)
      select diff.id, c.position, c.oid from diff, unnest(${version.commits}::text[]) with ordinality as c (oid, position))
    update merge_requests m set diff_id = diff.id, merge_status_source_oid = ${version.head}, merge_status_target_oid = ${version.start},
      merge_status = case when ${version.commits.length === 0} then 'cannot_be_merged'
        when m.merge_status like 'cannot_be_merged%' then 'cannot_be_merged_recheck' else 'unchecked' end
    from diff where m.id = ${mergeRequestId}`)
