import type { Caller } from '../../../access/actor.ts'
import { byKey, type Db, type Tx } from '../../../db/db.ts'
import {
  boolean,
  integer,
  notNull,
  nullable,
  omit,
  oneOf,
  type RowOf,
  text,
  textOf,
  timestamp,
} from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { withPlaceOf } from '../../discussion/index.ts'
import { composedForCaller } from '../../namespaces/index.ts'
import { mergeRequestStates, mergeStatuses } from './states.ts'

/** Columns that every operation on a merge request needs; `own`: the caller is its author or an assignee. */
export const mergeRequestRow = {
  id: integer,
  iid: integer,
  /** The target project. */
  project_id: integer,
  target_branch: text,
  /** Null if that project is deleted. */
  source_project_id: nullable(integer),
  source_branch: text,
  title: text,
  description: nullable(text),
  author_id: integer,
  state: oneOf(...mergeRequestStates),
  merge_status: oneOf(...mergeStatuses),
  discussion_locked: nullable(boolean),
  squash: boolean,
  allow_collaboration: boolean,
  collaboration_user_id: nullable(integer),
  force_remove_source_branch: nullable(boolean),
  milestone_id: nullable(integer),
  time_estimate: integer,
  created_at: timestamp,
  updated_at: timestamp,
  /** The newest version. The transaction that creates the merge request stores the first one. */
  diff_id: notNull(integer),
  /** Heads and merge base of that version; null while a branch is missing. */
  head_oid: nullable(textOf<Oid>()),
  start_oid: nullable(textOf<Oid>()),
  base_oid: nullable(textOf<Oid>()),
  own: boolean,
}
export type MergeRequestRow = RowOf<typeof mergeRequestRow>

/** Of a row named `m` with its newest version `d`. */
const columns =
  raw(`m.id, m.iid, m.project_id, m.target_branch, m.source_project_id, m.source_branch, m.title, m.description,
  m.author_id, m.state, m.merge_status, m.discussion_locked, m.squash, m.allow_collaboration, m.collaboration_user_id, m.force_remove_source_branch,
  m.milestone_id, m.time_estimate, m.created_at, m.updated_at, m.diff_id, d.head_oid, d.start_oid, d.base_oid`)

/** Whether the caller is the author or an assignee of `m`. */
const ownOf = (caller: Caller): Sql =>
  caller === null
    ? raw('false')
    : sql`
      (
        m.author_id = ${caller.id}
        or exists (select from merge_request_assignees a where a.merge_request_id = m.id and a.user_id = ${caller.id})
      )
    `

const numbered = composedForCaller(
  (caller, projectId: number, iid: number) => sql`
    select ${columns}, ${ownOf(caller)} as own
    from merge_requests m left join merge_request_diffs d on d.id = m.diff_id
    where m.project_id = ${projectId} and m.iid = ${iid}
  `,
)

export const findMergeRequest = (
  db: Db,
  caller: Caller,
  projectId: number,
  iid: number,
): Promise<MergeRequestRow | undefined> =>
  db.snapshotCache.row(mergeRequestRow, byKey(numbered(caller, projectId, iid)), ({ id, project_id }) => ({
    projects: [project_id],
    groups: [],
    mergeRequests: [id],
  }))

type LockedMergeRequest = Omit<MergeRequestRow, 'own'>

/**
 * Locks the row of a merge request until the transaction ends; undefined if it is deleted. Throws if the caller has lost the permission
 * meanwhile.
 */
export async function lockMergeRequest(tx: Tx, id: number): Promise<LockedMergeRequest | undefined> {
  const held = await lockPermitted(tx, id)
  if (held) await tx.requirePermission?.()
  return held
}

/** As `lockMergeRequest`, for what follows from a change that was permitted and cannot be undone. */
export const lockPermitted = (tx: Tx, id: number): Promise<LockedMergeRequest | undefined> =>
  tx.row(
    omit(mergeRequestRow, 'own'),
    sql`
      ${withPlaceOf('MergeRequest', id)}
      select ${columns}
      from place cross join merge_requests m left join merge_request_diffs d on d.id = m.diff_id
      where m.id = ${id}
      for no key update of m
    `,
  )

/** Sets the time of its last change, and so locks its row for concurrent changes and notes. False if it is deleted. */
export const touchMergeRequest = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`
    ${withPlaceOf('MergeRequest', id)} update merge_requests m set updated_at = now() from place where m.id = ${id}
  `)) > 0
