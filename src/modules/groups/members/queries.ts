import { levels } from '../../../access/levels.ts'
import type { List } from '../../../api/list.ts'
import { deleteSome } from '../../../db/batches.ts'
import { byKey, type Db, type Tx } from '../../../db/db.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import {
  boolean,
  date,
  integer,
  listOf,
  notNull,
  nullable,
  oneOf,
  type RowOf,
  text,
  timestamp,
} from '../../../db/row.ts'
import { literal, raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import type { DateOnly } from '../../../db/types.ts'
import { userReferenceColumns, userReferenceRow } from '../../accounts/index.ts'
import { insideOf } from '../../namespaces/index.ts'
import { insertMembers } from './new-member-queries.ts'

/** A user with their level here. */
export const memberRow = {
  ...userReferenceRow,
  access_level: integer,
  expires_at: nullable(date),
  created_at: timestamp,
  updated_at: timestamp,
}
export type MemberRow = RowOf<typeof memberRow>

/** Project or group of the members. `ancestorIds` are the groups above, outermost first; a group itself is last. */
export type MemberSource =
  | { of: 'group'; groupId: number; ancestorIds: readonly number[] }
  | { of: 'project'; projectId: number; ancestorIds: readonly number[] }

const direct = (source: MemberSource): Sql =>
  source.of === 'group' ? sql`m.namespace_id = ${source.groupId}` : sql`m.project_id = ${source.projectId}`

const alive = unexpired('m')

const select = sql`
  select ${userReferenceColumns}, m.access_level, m.expires_at, m.created_at, m.updated_at
  from members m join users u on u.id = m.user_id
`

export type MemberFilters = { query?: string; user_ids?: number[]; skip_users?: number[] }

const filtered = ({ query, user_ids, skip_users }: MemberFilters): Sql[] => [
  ...(query?.trim()
    ? [sql`(${fuzzy(query, ['u.name', 'u.username'])} or lower(u.email) = lower(${query.trim()}))`]
    : []),
  ...(user_ids?.length ? [sql`u.id = any(${user_ids}::bigint[])`] : []),
  ...(skip_users?.length ? [sql`u.id <> all(${skip_users}::bigint[])`] : []),
]

/** Direct members, oldest membership first. */
export const listMembers = (source: MemberSource, filters: MemberFilters): List => ({
  type: 'Member',
  cached: true,
  select,
  from: sql`from members m join users u on u.id = m.user_id`,
  where: [direct(source), alive, ...filtered(filters)],
  order: [{ by: raw('m.id'), direction: 'asc' }],
})

/** Ids of all users with access from any source, from the access index. */
const userIdsWithAccess = (source: MemberSource): Sql => {
  const inGroup = sql`
    from group_access a where a.group_id = ${source.ancestorIds.at(-1)!} and a.expires_on > current_date
  `
  return source.of === 'group'
    ? sql`select distinct a.user_id as id ${inGroup}`
    : sql`
      select a.user_id as id ${inGroup}
      union
      select a.user_id
      from project_access a
      where a.project_id = ${source.projectId} and a.expires_on > current_date
    `
}

/**
 * The effective membership of `u`: the nearest, starting with the project's own, then group by group outward. Users
 * with access only through a share have at most the level of the share.
 */
const nearestMembership = (source: MemberSource): Sql => {
  const ofUser = sql`m.user_id = u.id and ${alive}`
  const shared = raw(
    'least(m.access_level, l.group_access) as access_level, least(m.expires_at, l.expires_at) as expires_at',
  )
  const sharedNow = unexpired('l')
  const ofProject =
    source.of === 'project'
      ? sql`
        select m.access_level, m.expires_at, m.created_at, m.updated_at, 0 as distance
        from members m
        where m.project_id = ${source.projectId} and ${ofUser}
        union all
        select ${shared}, m.created_at, m.updated_at, 1000
        from project_group_links l
          join projects p on p.id = l.project_id
          join namespaces home on home.id = p.namespace_id and not home.share_with_group_lock
          join namespaces s on s.id = l.group_id
          join members m on m.namespace_id = any(s.traversal_ids)
        where l.project_id = ${source.projectId} and ${sharedNow} and ${ofUser}
        union all
      `
      : raw('')
  return sql`
    ${ofProject}select m.access_level, m.expires_at, m.created_at, m.updated_at,
    1 + cardinality(${source.ancestorIds}::bigint[]) - array_position(
      ${source.ancestorIds}::bigint[], m.namespace_id
    ) as distance
    from members m
    where m.namespace_id = any(${source.ancestorIds}::bigint[]) and ${ofUser}
    union all
    select ${shared}, m.created_at, m.updated_at, 1000
    from group_group_links l
      join namespaces s on s.id = l.shared_with_group_id
      join members m on m.namespace_id = any(s.traversal_ids)
    where l.shared_group_id = any(${source.ancestorIds}::bigint[]) and ${sharedNow} and ${ofUser}
    order by distance, access_level desc
    limit 1
  `
}

const selectNearest = (source: MemberSource): Sql =>
  sql`
    select ${userReferenceColumns}, m.access_level, m.expires_at, m.created_at, m.updated_at
    from users u cross join lateral (${nearestMembership(source)}) as m
  `

/** Members from any source, each once, by id. */
export const listAllMembers = (source: MemberSource, filters: MemberFilters): List => {
  const where = filtered(filters)
  return {
    type: 'Member',
    cached: true,
    select: selectNearest(source),
    // Without filters, the ids from the access index suffice.
    from:
      where.length > 0
        ? sql`from (${userIdsWithAccess(source)}) as every join users u on u.id = every.id`
        : sql`from (${userIdsWithAccess(source)}) as u`,
    key: raw('u.id'),
    where,
    order: [{ by: raw('u.id'), direction: 'asc' }],
    keyset: { direction: 'asc' },
  }
}

export const findMember = (db: Db, source: MemberSource, userId: number): Promise<MemberRow | undefined> =>
  db.snapshotCache.row(memberRow, byKey(sql`${select} where ${direct(source)} and m.user_id = ${userId} and ${alive}`))

/** As `findMember`, also if the membership has ended by its date. */
export const findMemberOrEnded = (db: Db, source: MemberSource, userId: number): Promise<MemberRow | undefined> =>
  db.row(memberRow, sql`${select} where ${direct(source)} and m.user_id = ${userId}`)

export const findAnyMember = (db: Db, source: MemberSource, userId: number): Promise<MemberRow | undefined> =>
  db.snapshotCache.row(memberRow, byKey(sql`${selectNearest(source)} where u.id = ${userId}`))

/** The user's highest level in the groups above, with the name of that group. */
export const inheritedLevel = (
  db: Db,
  groupIds: readonly number[],
  userId: number,
): Promise<{ access_level: number; name: string } | undefined> =>
  db.row(
    { access_level: integer, name: text },
    sql`
      select m.access_level, n.name
      from members m join namespaces n on n.id = m.namespace_id
      where m.user_id = ${userId} and m.namespace_id = any(${groupIds}::bigint[]) and ${alive}
      order by m.access_level desc
      limit 1
    `,
  )

/** False if the user is a member already, also if that membership has expired. The access lock is held. */
export async function insertMember(
  tx: Tx,
  source: MemberSource,
  member: { userId: number; level: number; expiresAt: DateOnly | null; createdBy: number | null },
): Promise<boolean> {
  const row = sql`
    select ${source.of === 'group' ? source.groupId : null}::bigint as namespace_id,
      ${source.of === 'project' ? source.projectId : null}::bigint as project_id, ${member.userId}::bigint as user_id,
      ${member.level}::smallint as access_level, ${member.expiresAt}::date as expires_at,
      ${member.createdBy}::bigint as created_by_id
  `
  return (await tx.run(insertMembers(row, sql`do nothing`))) > 0
}

/** Deletes the user's membership if it has expired, and returns what it was. */
export const deleteEndedMember = (
  tx: Tx,
  source: MemberSource,
  userId: number,
): Promise<Pick<EndedMember, 'level' | 'expires_at'> | undefined> =>
  tx.row(
    { level: endedRow.level, expires_at: endedRow.expires_at },
    sql`
      delete from members m
      where ${direct(source)} and m.user_id = ${userId} and not ${alive}
      returning m.access_level as level, m.expires_at
    `,
  )

/** `expiresAt: undefined` leaves the date unchanged. */
export const updateMember = (
  tx: Tx,
  source: MemberSource,
  userId: number,
  level: number,
  expiresAt: DateOnly | null | undefined,
): Promise<number> =>
  tx.run(sql`
    update members m
    set access_level = ${level}, updated_at = now(),
      expires_at = case when ${expiresAt === undefined} then m.expires_at else ${expiresAt ?? null}::date end
    where ${direct(source)} and m.user_id = ${userId}
  `)

export const deleteMember = (tx: Tx, source: MemberSource, userId: number): Promise<number> =>
  tx.run(sql`delete from members m where ${direct(source)} and m.user_id = ${userId}`)

export const endedRow = {
  user_id: integer,
  project_id: nullable(integer),
  namespace_id: nullable(integer),
  level: integer,
  expires_at: nullable(date),
}
export type EndedMember = RowOf<typeof endedRow>

/** Deletes at most `size` expired memberships; returns them. */
export const deleteEndedMembers = (tx: Tx, size: number): Promise<EndedMember[]> =>
  tx.rows(
    endedRow,
    sql`
      ${deleteSome('members', raw('expires_at <= current_date'), size)}
      returning user_id, project_id, namespace_id, access_level as level, expires_at
    `,
  )

/** Deletes the user's direct memberships below a group, because their membership of the group ends. Returns which. */
export async function deleteMembershipsBelow(
  tx: Tx,
  { groupId, ancestorIds }: { groupId: number; ancestorIds: readonly number[] },
  userId: number,
): Promise<EndedMember[]> {
  const below = insideOf(ancestorIds)
  const ended = raw('returning m.user_id, m.project_id, m.namespace_id, m.access_level as level, m.expires_at')
  const groups = await tx.rows(
    endedRow,
    sql`
      delete from members m using namespaces d
      where m.namespace_id = d.id and d.id <> ${groupId} and m.user_id = ${userId} and ${below} ${ended}
    `,
  )
  const projects = await tx.rows(
    endedRow,
    sql`
      delete from members m using projects p
      join namespaces d on d.id = p.namespace_id
      where m.project_id = p.id and m.user_id = ${userId} and ${below} ${ended}
    `,
  )
  return [...groups, ...projects]
}

/** Whether the group has another direct owner who is active and not a bot; with `lasting`, one without an end date. */
export const hasOtherOwner = async (db: Db, groupId: number, userId: number, lasting: boolean): Promise<boolean> =>
  (await db.row(
    { found: boolean },
    sql`
      select exists (
        select
        from members m join users u on u.id = m.user_id and u.kind <> 'bot' and u.state = 'active'
        where m.namespace_id = ${groupId}
          and m.access_level = ${literal(levels.owner)}
          and m.user_id <> ${userId}
          and ${lasting ? raw('m.expires_at is null') : alive}
      ) as found
    `,
  ))!.found

/** The groups above a project, whether they lock new members, and the owner of a personal namespace. */
export const placeOfProject = (
  db: Db,
  projectId: number,
): Promise<
  { kind: 'user' | 'group'; traversal_ids: number[]; membership_lock: boolean; owner_id: number | null } | undefined
> =>
  db.row(
    {
      kind: oneOf('user', 'group'),
      traversal_ids: listOf(integer),
      membership_lock: boolean,
      owner_id: nullable(integer),
    },
    sql`
      select n.kind, n.traversal_ids, n.membership_lock, n.owner_id
      from projects p join namespaces n on n.id = p.namespace_id
      where p.id = ${projectId}
    `,
  )

/** A group and those above it, outermost first. */
export const groupsAround = async (db: Db, groupId: number): Promise<number[] | undefined> =>
  (await db.row({ traversal_ids: listOf(integer) }, sql`select traversal_ids from namespaces where id = ${groupId}`))
    ?.traversal_ids

export const membershipRow = {
  source_id: notNull(integer),
  source_name: notNull(text),
  source_type: oneOf('Namespace', 'Project'),
  access_level: integer,
}
export type MembershipRow = RowOf<typeof membershipRow>

/** Direct memberships of a user, oldest first. */
export const membershipsOf = (userId: number, type: MembershipRow['source_type'] | undefined): List => ({
  type: 'Member',
  select: sql`
    select coalesce(m.project_id, m.namespace_id) as source_id, coalesce(p.name, n.name) as source_name,
      case when m.project_id is null then 'Namespace' else 'Project' end as source_type, m.access_level
    from members m left join projects p on p.id = m.project_id left join namespaces n on n.id = m.namespace_id
  `,
  from: sql`from members m left join projects p on p.id = m.project_id left join namespaces n on n.id = m.namespace_id`,
  where: [
    sql`m.user_id = ${userId}`,
    alive,
    raw('not coalesce(p.deleting, n.deleting)'),
    ...(type === undefined
      ? []
      : [type === 'Project' ? raw('m.project_id is not null') : raw('m.namespace_id is not null')]),
  ],
  order: [{ by: raw('m.id'), direction: 'asc' }],
})

/** Number of groups of which the user is a direct member. */
export const countGroupsOf = async (db: Db, userId: number): Promise<number> =>
  (await db.row(
    { count: notNull(integer) },
    sql`
      select count(*) as count
      from members m join namespaces n on n.id = m.namespace_id
      where m.user_id = ${userId} and ${alive} and not n.deleting
    `,
  ))!.count
