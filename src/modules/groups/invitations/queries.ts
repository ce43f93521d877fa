import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { date, integer, listOf, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { containing, empty, raw, sql, unexpired } from '../../../db/sql.ts'
import type { DateOnly } from '../../../db/types.ts'
import { isConfirmedAddress, ownedAddresses } from '../../accounts/index.ts'
import type { Holder } from '../holders/holder.ts'
import { heldBy, holderIds } from '../holders/queries.ts'

export const invitationRow = {
  id: integer,
  email: text,
  access_level: integer,
  expires_at: nullable(date),
  created_at: timestamp,
  /** Null if the inviter's account is gone. */
  created_by_name: nullable(text),
}
export type InvitationRow = RowOf<typeof invitationRow>

const alive = unexpired('i')
const columns = sql`
  i.id, i.email, i.access_level, i.expires_at, i.created_at,
  (select u.name from users u where u.id = i.created_by_id) as created_by_name
`

/** Open invitations, oldest first. */
export const invitationsOf = (holder: Holder, query: string | undefined): List => ({
  type: 'Invitation',
  select: sql`select ${columns} from invitations i`,
  from: sql`from invitations i`,
  where: [heldBy('i', holder), alive, ...(query ? [sql`i.email ilike ${containing(query)}`] : [])],
  order: [{ by: raw('i.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

/** Undefined if the address has an open invitation. Replaces an expired one. */
export async function insertInvitation(
  tx: Tx,
  holder: Holder,
  invitation: { email: string; level: number; expiresAt: DateOnly | null; createdBy: number },
): Promise<number | undefined> {
  const { projectId, namespaceId } = holderIds(holder)
  await tx.run(
    sql`
      delete from invitations i
      where ${heldBy('i', holder)} and lower(i.email) = lower(${invitation.email}) and not ${alive}
    `,
  )
  const row = await tx.row(
    { id: integer },
    sql`
      insert into invitations (project_id, namespace_id, email, access_level, expires_at, created_by_id)
      values (
        ${projectId}, ${namespaceId}, ${invitation.email}, ${invitation.level}, ${invitation.expiresAt},
        ${invitation.createdBy}
      )
      on conflict do nothing
      returning id
    `,
  )
  return row?.id
}

/** An open invitation, locked until the transaction ends. */
export const lockInvitation = (tx: Tx, holder: Holder, email: string): Promise<InvitationRow | undefined> =>
  tx.row(
    invitationRow,
    sql`
      select ${columns}
      from invitations i
      where ${heldBy('i', holder)} and lower(i.email) = lower(${email}) and ${alive}
      for no key update of i
    `,
  )

/** `expiresAt: undefined` leaves the date unchanged. */
export const updateInvitation = (
  tx: Tx,
  holder: Holder,
  email: string,
  { level, expiresAt }: { level: number | undefined; expiresAt: DateOnly | null | undefined },
): Promise<InvitationRow | undefined> =>
  tx.row(
    invitationRow,
    sql`
      update invitations i
      set access_level = coalesce(${level ?? null}::smallint, i.access_level),
        updated_at = now() ${expiresAt === undefined ? empty : sql`, expires_at = ${expiresAt}::date`}
      where ${heldBy('i', holder)} and lower(i.email) = lower(${email}) and ${alive}
      returning ${columns}
    `,
  )

/** False if there is none. */
export const deleteInvitation = async (tx: Tx, holder: Holder, email: string): Promise<boolean> =>
  (await tx.run(
    sql`delete from invitations i where ${heldBy('i', holder)} and lower(i.email) = lower(${email}) and ${alive}`,
  )) > 0

/** Confirmed primary and secondary addresses, in lower case. */
const confirmedAddresses = sql`(select a.address, a.user_id from ${ownedAddresses} where ${isConfirmedAddress})`

/** The person with this confirmed address. */
export const ownerOfAddress = async (db: Db, email: string): Promise<number | undefined> =>
  (
    await db.row(
      { id: integer },
      sql`
        select u.id
        from ${confirmedAddresses} c join users u on u.id = c.user_id and u.kind = 'human'
        where c.address = lower(${email})
      `,
    )
  )?.id

/** An invitation with its project or group. */
export const placedInvitationRow = {
  id: integer,
  access_level: integer,
  expires_at: nullable(date),
  created_by_id: nullable(integer),
  /** For a project, its namespace; for a group, the group; with the groups above. */
  project_id: nullable(integer),
  namespace_id: integer,
  traversal_ids: listOf(integer),
}
export type PlacedInvitation = RowOf<typeof placedInvitationRow>

/** Open invitations to the user's confirmed addresses, locked until the transaction ends. */
export const takeInvitationsFor = (tx: Tx, userId: number): Promise<PlacedInvitation[]> =>
  tx.rows(
    placedInvitationRow,
    sql`
      select i.id, i.access_level, i.expires_at, i.created_by_id, i.project_id, n.id as namespace_id, n.traversal_ids
      from users u
        join ${confirmedAddresses} c on c.user_id = u.id
        join invitations i on lower(i.email) = c.address
        left join projects p on p.id = i.project_id
        join namespaces n on n.id = coalesce(i.namespace_id, p.namespace_id)
      where u.id = ${userId} and u.kind <> 'ghost' and ${alive}
      order by i.id
      for update of i
    `,
  )

/** Users who confirmed an address with an open invitation to this project, or to a project of this group. */
export const invitedUsers = async (db: Db, where: { projectId: number } | { groupId: number }): Promise<number[]> =>
  (
    await db.rows(
      { user_id: integer },
      sql`
        select distinct c.user_id
        from projects p
          join invitations i on i.project_id = p.id
          join ${confirmedAddresses} c on c.address = lower(i.email)
        where ${'projectId' in where ? sql`p.id = ${where.projectId}` : sql`p.namespace_id = ${where.groupId}`}
          and ${alive}
      `,
    )
  ).map(({ user_id }) => user_id)

/** Deletes expired invitations. */
export const deleteEndedInvitations = (db: Db): Promise<number> =>
  db.run(sql`delete from invitations where expires_at <= current_date`)

export const deleteInvitationRow = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from invitations where id = ${id}`)
