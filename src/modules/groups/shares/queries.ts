import { deleteSome } from '../../../db/batches.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { date, integer, nullable, type RowOf, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import {
  type EndedGroupShare,
  type EndedProjectShare,
  endedGroupShareRow,
  endedProjectShareRow,
} from '../groups/unshared.ts'

export const projectShareRow = {
  id: integer,
  project_id: integer,
  group_id: integer,
  group_access: integer,
  expires_at: nullable(date),
}
export type ProjectShareRow = RowOf<typeof projectShareRow>

/** Extent of a share: the maximum level it gives, and the first day without it. */
export type Share = { level: number; expiresAt: string | null }

const ended = raw('expires_at <= current_date')

/** Undefined if the project is shared with the group already. An expired share is in the way. */
export const insertProjectShare = (
  tx: Tx,
  projectId: number,
  groupId: number,
  { level, expiresAt }: Share,
): Promise<ProjectShareRow | undefined> =>
  tx.row(
    projectShareRow,
    sql`
      insert into project_group_links (project_id, group_id, group_access, expires_at)
      values (${projectId}, ${groupId}, ${level}, ${expiresAt}::date)
      on conflict (project_id, group_id) do nothing
      returning id, project_id, group_id, group_access, expires_at
    `,
  )

/** Deletes the share if it has expired. */
export const deleteEndedProjectShare = (tx: Tx, projectId: number, groupId: number): Promise<EndedProjectShare[]> =>
  tx.rows(
    endedProjectShareRow,
    sql`
      delete from project_group_links
      where project_id = ${projectId} and group_id = ${groupId} and ${ended}
      returning project_id, group_id, group_access
    `,
  )

/** Returns the level of the deleted share; undefined if there was none. */
export const deleteProjectShare = async (tx: Tx, projectId: number, groupId: number): Promise<number | undefined> =>
  (
    await tx.row(
      { group_access: integer },
      sql`
        delete from project_group_links where project_id = ${projectId} and group_id = ${groupId} returning group_access
      `,
    )
  )?.group_access

/** False if the group is shared with the other already. An expired share is in the way. */
export const insertGroupShare = async (
  tx: Tx,
  sharedGroupId: number,
  withGroupId: number,
  { level, expiresAt }: Share,
): Promise<boolean> =>
  (await tx.run(sql`
    insert into group_group_links (shared_group_id, shared_with_group_id, group_access, expires_at)
    values (${sharedGroupId}, ${withGroupId}, ${level}, ${expiresAt}::date)
    on conflict (shared_group_id, shared_with_group_id) do nothing
  `)) > 0

/** Deletes the share if it has expired. */
export const deleteEndedGroupShare = (tx: Tx, sharedGroupId: number, withGroupId: number): Promise<EndedGroupShare[]> =>
  tx.rows(
    endedGroupShareRow,
    sql`
      delete from group_group_links
      where shared_group_id = ${sharedGroupId} and shared_with_group_id = ${withGroupId} and ${ended}
      returning shared_group_id, shared_with_group_id
    `,
  )

export const deleteGroupShare = async (tx: Tx, sharedGroupId: number, withGroupId: number): Promise<boolean> =>
  (await tx.run(sql`
    delete from group_group_links where shared_group_id = ${sharedGroupId} and shared_with_group_id = ${withGroupId}
  `)) > 0

/** Creation time of the share of a project with a group, if there is one. */
export const projectSharedAt = async (db: Db, projectId: number, groupId: number): Promise<Timestamp | undefined> =>
  (
    await db.row(
      { created_at: timestamp },
      sql`select created_at from project_group_links where project_id = ${projectId} and group_id = ${groupId}`,
    )
  )?.created_at

/** Creation time of the share of a group with another, if there is one. */
export const groupSharedAt = async (
  db: Db,
  sharedGroupId: number,
  withGroupId: number,
): Promise<Timestamp | undefined> =>
  (
    await db.row(
      { created_at: timestamp },
      sql`
        select created_at
        from group_group_links
        where shared_group_id = ${sharedGroupId} and shared_with_group_id = ${withGroupId}
      `,
    )
  )?.created_at

/**
 * Deletes at most `size` expired shares of projects; returns them. The access lock is held. Locks the projects first, as their deletion does,
 * and leaves those that are locked for the next time.
 */
export const deleteEndedProjectShares = (tx: Tx, size: number): Promise<EndedProjectShare[]> =>
  tx.rows(
    endedProjectShareRow,
    sql`
      with held as materialized (
        select id
        from projects
        where id = any(array(select project_id from project_group_links where ${ended}))
        order by id
        limit ${size}
        for no key update skip locked
      ) ${deleteSome('project_group_links', sql`${ended} and project_id in (select id from held)`, size)}
      returning project_id, group_id, group_access
    `,
  )

/** As `deleteEndedProjectShares`, for shares of groups. */
export const deleteEndedGroupShares = (tx: Tx, size: number): Promise<EndedGroupShare[]> =>
  tx.rows(
    endedGroupShareRow,
    sql`${deleteSome('group_group_links', ended, size)} returning shared_group_id, shared_with_group_id`,
  )
