import type { Db, Tx } from '../../../db/db.ts'
import { integer, notNull, nullable, type RowOf, textOf } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { isPassing, newestStatusSql, statuses } from '../../ci/index.ts'
import { unresolvedSql } from '../../discussion/index.ts'

/** Branches that a push moves. The journal contains them before they move. */
const branchesOf = (pushId: number): Sql => sql`
  array(
    select convert_from(substr(ref, 12), 'UTF8')
    from ref_changes
    where push_id = ${pushId} and substr(ref, 1, 11) = 'refs/heads/'
  )
`

/** Whether a branch that a push moves in a project is the source or target of an open merge request. Two probes of an index when none is. */
export const isOpenAroundPush = (projectId: number, pushId: number): Sql => sql`
  exists (
    select
    from merge_requests
    where project_id = ${projectId} and target_branch = any(${branchesOf(pushId)}) and state in ('opened', 'locked')
  )
  or exists (
    select
    from merge_requests
    where source_project_id = ${projectId}
      and source_branch = any(${branchesOf(pushId)})
      and state in ('opened', 'locked')
  )
`

/** Whether a merge request waits for a pipeline of a commit. */
export const isAwaited = (projectId: number, sha: Oid): Sql => sql`
  exists (
    select
    from merge_requests
    where auto_merge_user_id is not null
      and auto_merge_oid = ${sha}
      and source_project_id = ${projectId}
      and state = 'opened'
  )
`

/** Open merge requests of whose head this is the pipeline. */
export const openWithPipeline = (
  tx: Tx,
  pipelineId: number,
): Promise<{ id: number; project_id: number; author_id: number; auto_merge_user_id: number | null }[]> =>
  tx.rows(
    { id: integer, project_id: integer, author_id: integer, auto_merge_user_id: nullable(integer) },
    sql`
      select m.id, m.project_id, m.author_id, m.auto_merge_user_id
      from pipelines l
        join merge_requests m on m.source_project_id = l.project_id and m.source_branch = l.ref and m.state = 'opened'
        join merge_request_diffs d on d.id = m.diff_id and d.head_oid = l.sha
      where l.id = ${pipelineId} and not l.tag
      order by m.id
    `,
  )

/** A commit whose pipeline is awaited. */
const awaitedRow = { source_project_id: notNull(integer), sha: notNull(textOf<Oid>()) }
export type AwaitedRow = RowOf<typeof awaitedRow>

/** The commits for whose pipelines open merge requests among these wait; with `settled`, those whose discussions are all resolved. */
export const waitingAmong = (
  tx: Tx,
  mergeRequestIds: readonly number[],
  { settled = false } = {},
): Promise<AwaitedRow[]> =>
  tx.rows(
    awaitedRow,
    sql`
      select distinct m.source_project_id, m.auto_merge_oid as sha
      from merge_requests m
      where m.id = any(${mergeRequestIds}::bigint[])
        and m.state = 'opened'
        and m.auto_merge_user_id is not null
        and m.source_project_id is not null
        and ${settled ? sql`not ${unresolvedSql('MergeRequest', raw('m.id'))}` : raw('true')}
      order by 1, 2
    `,
  )

/** The commits for whose pipelines open merge requests into projects, or into projects of groups, wait. */
export const waitingInto = (
  tx: Tx,
  { projectIds, groupIds }: { readonly projectIds: readonly number[]; readonly groupIds: readonly number[] },
): Promise<AwaitedRow[]> =>
  tx.rows(
    awaitedRow,
    sql`
      select distinct m.source_project_id, m.auto_merge_oid as sha
      from merge_requests m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
      where m.auto_merge_user_id is not null
        and m.state = 'opened'
        and m.source_project_id is not null
        and (p.id = any(${projectIds}::bigint[]) or n.traversal_ids && ${groupIds}::bigint[])
      order by 1, 2
    `,
  )

const newestStatus = newestStatusSql(raw('m.source_project_id'), raw('m.auto_merge_oid'), raw('m.source_branch'))

/**
 * The commits whose pipeline has passed, and for which open merge requests still wait. Merge requests whose merge was refused do not
 * count, because each attempt makes commits.
 */
export const heldAfterPipeline = (db: Db): Promise<AwaitedRow[]> =>
  db.rows(
    awaitedRow,
    sql`
      select distinct m.source_project_id, m.auto_merge_oid as sha
      from merge_requests m
      where m.auto_merge_user_id is not null
        and m.state = 'opened'
        and m.source_project_id is not null
        and m.merge_error is null
        and ${newestStatus} = any(${statuses.filter(isPassing)}::text[])
      order by 1, 2
    `,
  )
