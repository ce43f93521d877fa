import type { Db, Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { isLongAgo, raw, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { MergeStatus } from './states.ts'

/** A merge status that is to be checked again. What could not be merged is shown as such until the result is known. */
export const unchecked = sql`
  case
    when merge_status in ('cannot_be_merged', 'cannot_be_merged_recheck') then 'cannot_be_merged_recheck'
    else 'unchecked'
  end
`

/** The merge status once no check is of use. */
export const endedCheck = sql`case when merge_status = 'checking' then 'unchecked' else merge_status end`

/** Resets the merge status of merge requests into a branch, unless it was computed for the branch's current head. */
export const uncheckInto = (db: Db, projectId: number, branch: string, target: Oid | null): Promise<number> =>
  db.run(sql`
    update merge_requests
    set merge_status = ${unchecked}
    where project_id = ${projectId}
      and target_branch = ${branch}
      and state = 'opened'
      and merge_status not in ('unchecked', 'cannot_be_merged_recheck')
      and merge_status_target_oid is distinct from ${target}
  `)

/** Status while the source has a new head and the author may not read it. */
export const withheldStatus: MergeStatus = 'cannot_be_merged_recheck'

/** The result for the heads of both branches, and whether the source lacks commits of the target. It is no change of the merge request: `updated_at` stays. */
export const saveMergeStatus = (
  tx: Tx,
  id: number,
  status: MergeStatus,
  { source, target }: { source: Oid | undefined; target: Oid | undefined },
  lacksTarget = false,
): Promise<number> =>
  tx.run(sql`
    update merge_requests
    set merge_status = ${status}, merge_status_source_oid = ${source ?? null},
      merge_status_target_oid = ${target ?? null}, lacks_target = ${lacksTarget}
    where id = ${id}
  `)

/**
 * Marks merge requests with an unknown status as being checked; returns all that wait for a check. Those that are being changed are left to the
 * next request: what reads them waits for no writer.
 */
export const beginChecks = async (tx: Tx, ids: readonly number[]): Promise<number[]> => {
  const rows = await tx.rows(
    { id: integer },
    sql`
      update merge_requests
      set merge_status = case merge_status when 'unchecked' then 'checking' else merge_status
        end, checking_since = now()
      where id in (
        select id
        from merge_requests
        where id = any(${ids}::bigint[])
          and state = 'opened'
          and merge_status not in ('can_be_merged', 'cannot_be_merged')
        order by id
        for no key update skip locked
      )
      returning id
    `,
  )
  return rows.map(({ id }) => id)
}

/** The merge status is unknown again after a check without a result. */
export const forgetCheck = (db: Db, id: number): Promise<number> =>
  db.run(sql`update merge_requests set merge_status = 'unchecked' where id = ${id} and merge_status = 'checking'`)

/** Of these, merge requests whose check started so long ago that it must have been lost. */
export const lostChecks = async (db: Db, ids: readonly number[]): Promise<number[]> =>
  (
    await db.rows(
      { id: integer },
      sql`
        select id
        from merge_requests
        where id = any(${ids}::bigint[])
          and merge_status = 'checking'
          and ${isLongAgo(raw(`coalesce(checking_since, '-infinity')`), raw(`interval '10 minutes'`))}
      `,
    )
  ).map(({ id }) => id)
