import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { isDue, isLongAgo, raw, sql } from '../../../db/sql.ts'
import { mirrorsWithoutUser, mirrorUpdated } from '../../projects/index.ts'
import { updateStatuses } from '../remotes/update-fields.ts'
import { type UpdateResult, updateAtRest, updateEnded, updateScheduled } from '../remotes/update-queries.ts'

/** State of a pull mirror: row of the table `pull_mirrors`. */
export const pullMirrorRow = {
  project_id: integer,
  shown_url: text,
  update_status: oneOf(...updateStatuses),
  next_at: nullable(timestamp),
  last_error: nullable(text),
  last_update_started_at: nullable(timestamp),
  last_update_at: nullable(timestamp),
  last_successful_update_at: nullable(timestamp),
}
export type PullMirrorRow = RowOf<typeof pullMirrorRow>

export const findPullMirror = (db: Db, projectId: number): Promise<PullMirrorRow | undefined> =>
  db.row(
    pullMirrorRow,
    sql`
      select project_id, shown_url, update_status, next_at, last_error, last_update_started_at, last_update_at,
        last_successful_update_at
      from pull_mirrors
      where project_id = ${projectId}
    `,
  )

/** The source of a mirror, and the user whose rights its updates have. */
export const findPullRemote = (
  db: Db,
  projectId: number,
): Promise<{ shown_url: string; user_id: number | null } | undefined> =>
  db.row(
    { shown_url: text, user_id: nullable(integer) },
    sql`
      select m.shown_url, p.mirror_user_id as user_id
      from pull_mirrors m join projects p on p.id = m.project_id
      where m.project_id = ${projectId}
    `,
  )

/** What a project says of its mirror. The project exists. */
export const findMirrorUser = async (
  tx: Tx,
  projectId: number,
): Promise<{ mirror: boolean; mirror_user_id: number | null }> =>
  (await tx.row(
    { mirror: boolean, mirror_user_id: nullable(integer) },
    sql`select mirror, mirror_user_id from projects where id = ${projectId}`,
  ))!

/** Saves the source of a mirror. The first update is due after this time. */
export const savePullMirror = (
  tx: Tx,
  projectId: number,
  { sealedUrl, shownUrl, firstInSeconds }: { sealedUrl: string; shownUrl: string; firstInSeconds: number },
): Promise<number> =>
  tx.run(sql`
    insert into pull_mirrors (project_id, sealed_url, shown_url, next_at)
    values (${projectId}, ${sealedUrl}, ${shownUrl}, now() + make_interval(secs => ${firstInSeconds}::double precision))
    on conflict (project_id) do update
      set sealed_url = excluded.sealed_url, shown_url = excluded.shown_url, next_at = excluded.next_at, failures = 0
  `)

/** The encrypted URL of the source; null if the project is no mirror. */
export const findSealedUrl = async (tx: Tx, projectId: number): Promise<string | null> =>
  (await tx.row({ sealed_url: text }, sql`select sealed_url from pull_mirrors where project_id = ${projectId}`))
    ?.sealed_url ?? null

/** Makes an update due now, also of a mirror that stopped. False if the project is no mirror. */
export const restartPullMirror = async (tx: Tx, projectId: number): Promise<boolean> =>
  (await tx.run(sql`
    update pull_mirrors
    set next_at = now(), queued_at = now(), failures = 0, ${updateScheduled}
    where project_id = ${projectId}
  `)) > 0

export const deletePullMirror = (tx: Tx, projectId: number): Promise<number> =>
  tx.run(sql`delete from pull_mirrors where project_id = ${projectId}`)

/** After this time an update in the queue counts as lost: its job failed on every attempt. */
const lost = raw(`interval '4 hours'`)

/** Number of updates that wait in the queue or run. Serialises schedulers until the transaction ends. */
export const countQueued = async (tx: Tx): Promise<number> =>
  (await tx.row(
    { count: integer },
    sql`
      with alone as (select pg_advisory_xact_lock(${schedulerLock}))
      select count(*) as count
      from alone, pull_mirrors
      where not ${isLongAgo(raw('queued_at'), lost)}
    `,
  ))!.count

const schedulerLock = 7_180_352

/**
 * Marks updates that are due as queued, the longest due first, at most `size`. None is planned more than `maxSeconds` ahead.
 * Returns ids of projects.
 */
export async function queueDue(tx: Tx, size: number, maxSeconds: number): Promise<number[]> {
  const rows = await tx.rows(
    { project_id: integer },
    sql`
      update pull_mirrors
      set queued_at = now(), update_status = 'scheduled'
      where project_id = any(
        array(
          select m.project_id
          from pull_mirrors m join projects p on p.id = m.project_id
          where ${isDue(raw('m.next_at'), sql`make_interval(secs => ${maxSeconds}::double precision)`)}
            and (m.queued_at is null or ${isLongAgo(raw('m.queued_at'), lost)})
            and not p.deleting
            and not p.archived
            and p.import_status not in ('scheduled', 'started')
          order by m.next_at
          limit ${size}
        )
      )
      returning project_id
    `,
  )
  return rows.map(({ project_id }) => project_id)
}

export const pendingUpdateRow = {
  sealed_url: text,
  user_id: nullable(integer),
  triggers_builds: boolean,
  only_protected_branches: boolean,
  overwrites_diverged: boolean,
}
export type PendingUpdate = RowOf<typeof pendingUpdateRow>

/** Starts an update. Undefined if the project is no mirror now, is archived, being imported or being deleted. */
export const beginUpdate = (db: Db, projectId: number): Promise<PendingUpdate | undefined> =>
  db.row(
    pendingUpdateRow,
    sql`
      update pull_mirrors m
      set update_status = 'started', queued_at = now(), last_update_started_at = now()
      from projects p
      where m.project_id = ${projectId}
        and p.id = m.project_id
        and p.mirror
        and not p.deleting
        and not p.archived
        and p.import_status not in ('scheduled', 'started')
      returning m.sealed_url, p.mirror_user_id as user_id,
        coalesce((p.settings ->> 'mirror_trigger_builds')::boolean, false) as triggers_builds,
        coalesce((p.settings ->> 'only_mirror_protected_branches')::boolean, false) as only_protected_branches,
        coalesce((p.settings ->> 'mirror_overwrites_diverged_branches')::boolean, false) as overwrites_diverged
    `,
  )

/** Whether a project is still a mirror of the same source with the same user, and not archived, since an update began. */
export const isUnchanged = (db: Db, projectId: number, { sealed_url, user_id }: PendingUpdate): Promise<boolean> =>
  db.exists(sql`
    select
    from pull_mirrors m join projects p on p.id = m.project_id
    where m.project_id = ${projectId}
      and m.sealed_url = ${sealed_url}
      and p.mirror
      and p.mirror_user_id = ${user_id}
      and not p.archived
      and not p.deleting
  `)

/** Takes an update that could not start out of the queue; it stays due. */
export const leaveQueue = (db: Db, projectId: number): Promise<number> =>
  db.run(sql`update pull_mirrors set queued_at = null, ${updateAtRest} where project_id = ${projectId}`)

/** Failed updates since the last success, of a mirror; locked until the transaction ends. */
export const lockFailures = async (tx: Tx, projectId: number): Promise<number | undefined> =>
  (
    await tx.row(
      { failures: integer },
      sql`select failures from pull_mirrors where project_id = ${projectId} for no key update`,
    )
  )?.failures

/** Records the end of an update, in the mirror and in the project. */
export const endUpdate = (tx: Tx, projectId: number, result: UpdateResult): Promise<number> =>
  tx.run(sql`
    with ended as (
      update pull_mirrors
      set queued_at = null, ${updateEnded(result)}
      where project_id = ${projectId}
      returning project_id
    ) ${mirrorUpdated(raw('select project_id from ended'), result.error)}
  `)

/** Stops all mirrors that have the rights of a user. */
export const stopMirrorsOf = (tx: Tx, userId: number, error: string): Promise<number> =>
  tx.run(sql`
    with hit as (${mirrorsWithoutUser(userId, error)})
    update pull_mirrors m
    set next_at = null, last_error = ${error}, update_status = 'failed'
    from hit
    where m.project_id = hit.id
  `)
