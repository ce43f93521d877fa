import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, nullable, type RowOf, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { userReferenceColumns, userReferenceRow } from '../../accounts/index.ts'
import { settingDefaults } from '../../projects/index.ts'
import type { Holder } from '../holders/holder.ts'
import { heldBy, holderIds } from '../holders/queries.ts'

/** A user who requests access. */
export const accessRequestRow = { ...userReferenceRow, requested_at: timestamp }
export type AccessRequestRow = RowOf<typeof accessRequestRow>

/** Requests of blocked users are hidden. */
const active = raw(`u.state = 'active'`)

const select = sql`
  select ${userReferenceColumns}, r.requested_at from access_requests r join users u on u.id = r.user_id
`

/** Oldest first. */
export const accessRequestsOf = (holder: Holder): List => ({
  type: 'AccessRequester',
  select,
  from: sql`from access_requests r join users u on u.id = r.user_id`,
  where: [heldBy('r', holder), active],
  order: [{ by: raw('r.id'), direction: 'asc' }],
})

export const findAccessRequest = (db: Db, holder: Holder, userId: number): Promise<AccessRequestRow | undefined> =>
  db.row(accessRequestRow, sql`${select} where ${heldBy('r', holder)} and r.user_id = ${userId} and ${active}`)

/** False if the user has requested access already. */
export async function insertAccessRequest(tx: Tx, holder: Holder, userId: number): Promise<boolean> {
  const { projectId, namespaceId } = holderIds(holder)
  return (
    (await tx.run(sql`
      insert into access_requests (project_id, namespace_id, user_id)
      values (${projectId}, ${namespaceId}, ${userId})
      on conflict do nothing
    `)) > 0
  )
}

/** False if there is none. */
export const deleteAccessRequest = async (tx: Tx, holder: Holder, userId: number): Promise<boolean> =>
  (await tx.run(sql`delete from access_requests r where ${heldBy('r', holder)} and r.user_id = ${userId}`)) > 0

/** Whether users may request access to a project or group. */
export const takesRequests = async (db: Db, { of, id }: Holder): Promise<boolean> =>
  (
    await db.row(
      { takes: nullable(boolean) },
      of === 'project'
        ? sql`select (settings->>'request_access_enabled')::boolean as takes from projects where id = ${id}`
        : sql`select request_access_enabled as takes from namespaces where id = ${id}`,
    )
  )?.takes ?? settingDefaults.request_access_enabled
