import type { Actor, Caller } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import { deleteSome } from '../../../db/batches.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { empty, literal, raw, type Sql, sql } from '../../../db/sql.ts'

/** An arbitrary constant: the key of the advisory lock. */
const lock = 7_180_340

/**
 * How long a change of access waits for each other lock. All other changes of access wait for it, and the row of a project may be
 * locked for minutes, while an archive is imported into it.
 */
const longestWait = '5s'

const takeLock = (mode: 'pg_advisory_xact_lock' | 'pg_advisory_xact_lock_shared'): Sql => sql`
  with held as materialized (select ${raw(mode)}(${lock}::bigint))
  select set_config('lock_timeout', ${longestWait}, true)
  from held
`

/**
 * Serialises changes of access until their transactions end: each recomputes from committed rows. Take the lock before
 * reading what the change depends on. Throws if the caller of the request has lost the permission meanwhile.
 */
export async function lockAccess(tx: Tx): Promise<void> {
  await tx.run(takeLock('pg_advisory_xact_lock'))
  await tx.requirePermission?.()
}

/** As `lockAccess`, at the end of work that took minutes, which would be lost: waits almost as long as a statement may. */
export async function lockAccessAtLast(tx: Tx): Promise<void> {
  await tx.run(sql`select set_config('lock_timeout', '25s', true)`)
  await lockAccess(tx)
}

/**
 * Enough to create a group: no access changes until the transaction ends, but others create groups at the same time. Each writes only the
 * access to its own group, which nothing else depends on yet. Do not take `lockAccess` after it: two that do wait for each other.
 */
export async function lockAccessForNew(tx: Tx): Promise<void> {
  await tx.run(takeLock('pg_advisory_xact_lock_shared'))
  await tx.requirePermission?.()
}

/** True for the namespace with these traversal ids and everything below it. One range scan of the index. */
export const within = (traversalIds: Sql, outer: Sql): Sql =>
  sql`(${traversalIds} >= ${outer} and ${traversalIds} < ${outer} || 9223372036854775807::bigint)`

/** The namespace `d` is the last of these, or lies below it. */
export const insideOf = (traversalIds: readonly number[]): Sql =>
  within(raw('d.traversal_ids'), sql`${traversalIds}::bigint[]`)

/** Selects the ids of the last of these namespaces and of all below it. */
export const idsInside = (traversalIds: readonly number[]): Sql =>
  sql`select d.id from namespaces d where ${insideOf(traversalIds)}`

/** The user's current level in a namespace; null without membership. */
export const groupLevel = (userId: number, groupId: Sql): Sql =>
  sql`
    (
      select max(level)
      from group_access
      where user_id = ${userId} and group_id = ${groupId} and expires_on > current_date
    )
  `

/** The user's current level in a project, including its namespace; null without membership. */
export const projectLevel = (userId: number, projectId: Sql, namespaceId: Sql): Sql => sql`
  greatest(
    ${groupLevel(userId, namespaceId)},
    (
      select max(level)
      from project_access
      where user_id = ${userId} and project_id = ${projectId} and expires_on > current_date
    )
  )
`

/**
 * Level of a deploy key in a project where it is enabled: reporter, or maintainer if it may push, because only a
 * maintainer grants that. Null elsewhere.
 */
export const deployKeyLevel = (keyId: number, projectId: Sql): Sql => sql`
  (
    select case when can_push then ${literal(levels.maintainer)} else ${literal(levels.reporter)} end::smallint
    from deploy_key_projects
    where deploy_key_id = ${keyId} and project_id = ${projectId}
  )
`

/**
 * Level of a deploy token in its project or below its group: reporter, because it only reads. Null elsewhere and if
 * revoked. Expiry is checked at authentication, not here, because rows with a level are cached and do not change with
 * time.
 */
export const deployTokenLevel = (tokenId: number, projectId: Sql, namespaceId: Sql): Sql => sql`
  (
    select ${literal(levels.reporter)}::smallint
    from deploy_tokens t
    where t.id = ${tokenId}
      and not t.revoked
      and (
        t.project_id = ${projectId}
        or t.namespace_id = any((select traversal_ids from namespaces where id = ${namespaceId})::bigint[])
      )
  )
`

/**
 * True for projects that the caller's token is limited to, directly or through a group above; true for all projects if
 * the token is not limited. SQL twin of the limit in `allows`.
 */
export const projectWithinLimits = (caller: Caller, projectId: Sql, namespaceId: Sql): Sql =>
  caller?.limits
    ? sql`(${projectId} = any(${caller.limits.projects}::bigint[]) or ${groupWithinLimits(caller, namespaceId)})`
    : raw('true')

/** As `projectWithinLimits`, for groups: includes everything below the groups of the token. */
export const groupWithinLimits = (caller: Caller, groupId: Sql): Sql =>
  caller?.limits
    ? sql`
      exists (
        select
        from namespaces around
        where around.id = ${groupId} and around.traversal_ids && ${caller.limits.groups}::bigint[]
      )
    `
    : raw('true')

/** The ids of the namespaces in which the user has at least this level. */
export const namespacesOfMember = (userId: number, level: number): Sql => sql`
  select group_id from group_access where user_id = ${userId} and level >= ${level} and expires_on > current_date
`

/** True for projects in which the user has at least this level: SQL twin of `facts.level >= level`. */
export const projectWhere = (actor: Actor, level: number, projectId: Sql, namespaceId: Sql): Sql => sql`
  (
    ${namespaceId} in (${namespacesOfMember(actor.id, level)})
    or ${projectId} in (
      select project_id
      from project_access
      where user_id = ${actor.id} and level >= ${level} and expires_on > current_date
    )
  )
`

/**
 * As `projectWhere`, in two disjoint parts of a list: the projects of the user's namespaces, and their other projects. Arrays, so
 * that the memberships lead to the projects in every plan: however many projects others have, they are not read.
 */
export function projectParts(actor: Actor, level: number, projectId: Sql, namespaceId: Sql): [Sql, Sql] {
  const groups = namespacesOfMember(actor.id, level)
  return [
    sql`${namespaceId} = any(array(${groups}))`,
    sql`
      ${projectId} = any(
        array(
          select project_id
          from project_access
          where user_id = ${actor.id} and level >= ${level} and expires_on > current_date
        )
      )
      and ${namespaceId} not in (${groups})
    `,
  ]
}

/**
 * Namespaces whose access depends on membership of this group: its descendants, and the groups shared with them with
 * their descendants.
 */
export async function groupsDependingOn(db: Db, groupId: number): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      with inner_groups as (
        select d.id
        from namespaces g join namespaces d on ${within(sql`d.traversal_ids`, sql`g.traversal_ids`)}
        where g.id = ${groupId}
      )
      select id
      from inner_groups
      union
      select d.id
      from group_group_links l
        join inner_groups i on i.id = l.shared_with_group_id
        join namespaces s on s.id = l.shared_group_id
        join namespaces d on ${within(sql`d.traversal_ids`, sql`s.traversal_ids`)}
    `,
  )
  return rows.map(({ id }) => id)
}

/** Projects shared with this group or a descendant. */
export async function projectsSharedWith(db: Db, groupId: number): Promise<number[]> {
  const rows = await db.rows(
    { project_id: integer },
    sql`
      select distinct l.project_id
      from namespaces g
        join namespaces d on ${within(sql`d.traversal_ids`, sql`g.traversal_ids`)}
        join project_group_links l on l.group_id = d.id
      where g.id = ${groupId}
    `,
  )
  return rows.map(({ project_id }) => project_id)
}

const forever = sql`'infinity'::date`
const lasting = (column: Sql): Sql => sql`coalesce(${column}, ${forever})`

/**
 * Replaces the rows of `table` for some subjects (of one user, or of all) by the rows of `sources`: columns subject_id,
 * user_id, level, expires_on. Drops a level of a user when a higher level lasts at least as long.
 */
const replaceAccess = (
  table: Sql,
  subject: Sql,
  ids: readonly number[],
  userId: number | undefined,
  sources: Sql,
): Sql => {
  const onlyUser = userId === undefined ? empty : sql`and user_id = ${userId}`
  return sql`
    with wanted as (
      select subject_id, user_id, level, max(expires_on) as expires_on
      from (${sources}) as source
      where expires_on > current_date ${onlyUser}
      group by subject_id, user_id, level
    ),
    kept as (
      select *
      from wanted w
      where not exists (
        select
        from wanted h
        where h.subject_id = w.subject_id
          and h.user_id = w.user_id
          and h.level > w.level
          and h.expires_on >= w.expires_on
      )
    ),
    gone as (
      delete from ${table} a
      where a.${subject} = any(${ids}::bigint[]) ${onlyUser}
        and not exists (
          select from kept k where k.subject_id = a.${subject} and k.user_id = a.user_id and k.level = a.level
        )
    )
    insert into ${table} as a (user_id, ${subject}, level, expires_on)
    select user_id, subject_id, level, expires_on
    from kept
    on conflict (user_id, ${subject}, level) do update
      set expires_on = excluded.expires_on where a.expires_on <> excluded.expires_on
  `
}

/** Recomputes `group_access` of these namespaces, for one user or all. The access lock is held. */
export const refreshGroupAccess = (tx: Tx, groupIds: readonly number[], userId?: number): Promise<number> =>
  tx.run(
    replaceAccess(
      sql`group_access`,
      sql`group_id`,
      groupIds,
      userId,
      sql`
        select g.id as subject_id, m.user_id, m.access_level as level, ${lasting(sql`m.expires_at`)} as expires_on
        from namespaces g join members m on m.namespace_id = any(g.traversal_ids)
        where g.id = any(${groupIds}::bigint[])
        union all
        select g.id, m.user_id, least(l.group_access, m.access_level),
          least(${lasting(sql`l.expires_at`)}, ${lasting(sql`m.expires_at`)})
        from namespaces g
          join group_group_links l on l.shared_group_id = any(g.traversal_ids)
          join namespaces s on s.id = l.shared_with_group_id
          join members m on m.namespace_id = any(s.traversal_ids)
        where g.id = any(${groupIds}::bigint[])
        union all
        select g.id, g.owner_id, 50, ${forever}
        from namespaces g
        where g.id = any(${groupIds}::bigint[]) and g.kind = 'user'
      `,
    ),
  )

/** Recomputes `project_access` of these projects, for one user or all. The access lock is held. */
export const refreshProjectAccess = (tx: Tx, projectIds: readonly number[], userId?: number): Promise<number> =>
  tx.run(
    replaceAccess(
      sql`project_access`,
      sql`project_id`,
      projectIds,
      userId,
      sql`
        select m.project_id as subject_id, m.user_id, m.access_level as level,
          ${lasting(sql`m.expires_at`)} as expires_on
        from members m
        where m.project_id = any(${projectIds}::bigint[])
        union all
        select p.id, m.user_id, least(l.group_access, m.access_level),
          least(${lasting(sql`l.expires_at`)}, ${lasting(sql`m.expires_at`)})
        from projects p
          join namespaces n on n.id = p.namespace_id and not n.share_with_group_lock
          join project_group_links l on l.project_id = p.id
          join namespaces s on s.id = l.group_id
          join members m on m.namespace_id = any(s.traversal_ids)
        where p.id = any(${projectIds}::bigint[])
      `,
    ),
  )

/** Deletes expired levels, at most `size` of each table; returns the larger of the two counts. */
export const deleteEndedAccess = async (db: Db, size: number): Promise<number> => {
  const ended = raw('expires_on <= current_date')
  const groups = await db.run(deleteSome('group_access', ended, size))
  return Math.max(groups, await db.run(deleteSome('project_access', ended, size)))
}

/** Projects directly in these namespaces that are shared with a group. */
export async function sharedProjectsIn(db: Db, namespaceIds: readonly number[]): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      select p.id
      from projects p
      where p.namespace_id = any(${namespaceIds}::bigint[])
        and exists (select from project_group_links l where l.project_id = p.id)
    `,
  )
  return rows.map(({ id }) => id)
}

/** Deletes all access of these users from the index. The access lock is held. */
export async function deleteAccessOf(tx: Tx, userIds: readonly number[]): Promise<void> {
  await tx.run(sql`delete from group_access where user_id = any(${userIds}::bigint[])`)
  await tx.run(sql`delete from project_access where user_id = any(${userIds}::bigint[])`)
}
