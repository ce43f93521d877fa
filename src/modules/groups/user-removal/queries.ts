import { levels } from '../../../access/levels.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, listOf, nullable, pick, type RowOf, text } from '../../../db/row.ts'
import { join, literal, raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import type { Payload } from '../../../events/catalogue.ts'
import type { UserRow } from '../../accounts/index.ts'
import { userRow } from '../../accounts/index.ts'
import { deleteMailsTo } from '../../instance/index.ts'
import { deleteAccessOf, lockPersonalNamespace, markNamespacesDeleting } from '../../namespaces/index.ts'
import { lockToHide, markProjectsDeleting } from '../../projects/index.ts'
import { type EndedMember, endedRow } from '../members/queries.ts'
import type { Contribution, DeletedRows } from './contributions.ts'

/**
 * Groups that the user owns, with no other owner of them or of a group above; with `ofAble`, other owners count only if they are active or
 * deactivated. Outermost first.
 */
export async function soleOwnedGroups(db: Db, userId: number, ofAble: boolean): Promise<number[]> {
  const counts = ofAble ? raw(`u.kind <> 'bot' and u.state in ('active', 'deactivated')`) : raw(`u.kind <> 'bot'`)
  const rows = await db.rows(
    { id: integer },
    sql`
      select g.id
      from members m join namespaces g on g.id = m.namespace_id and not g.deleting
      where m.user_id = ${userId}
        and m.access_level = ${literal(levels.owner)}
        and ${unexpired('m')}
        and not exists (
          select
          from members o join users u on u.id = o.user_id and ${counts}
          where o.namespace_id = any(g.traversal_ids)
            and o.user_id <> ${userId}
            and o.access_level = ${literal(levels.owner)}
            and ${unexpired('o')}
        )
      order by cardinality(g.traversal_ids), g.id
    `,
  )
  return rows.map(({ id }) => id)
}

/** Locks the account against concurrent changes; undefined if it does not exist. */
export const lockAccount = (
  tx: Tx,
  id: number,
): Promise<Pick<UserRow, 'username' | 'name' | 'kind' | 'admin' | 'state'> | undefined> =>
  tx.row(
    pick(userRow, 'username', 'name', 'state', 'kind', 'admin'),
    sql`select username, name, kind, admin, state from users where id = ${id} for update`,
  )

const botTokenRow = { id: integer, project_id: nullable(integer), namespace_id: nullable(integer) }

/** The active tokens that a bot acts with, and their projects or groups. None of an account that is no bot. */
export const tokensOfBot = (tx: Tx, userId: number): Promise<RowOf<typeof botTokenRow>[]> =>
  tx.rows(
    botTokenRow,
    sql`
      select t.id, b.project_id, b.namespace_id
      from resource_bots b join access_tokens t on t.user_id = b.user_id and t.kind = 'resource'
      where b.user_id = ${userId} and not t.revoked and ${unexpired('t')}
      order by t.id
    `,
  )

/** Locks the personal namespace of a user and its projects, before the account: what is added to a project locks that before its author. */
export async function lockSpace(tx: Tx, userId: number): Promise<void> {
  await lockPersonalNamespace(tx, userId)
  await lockToHide(tx, sql`d.owner_id = ${userId}`)
}

/**
 * Locks the merge requests that are merged automatically for a user, after their projects, as comments on them do. Before the account, to
 * which these comments refer.
 */
export async function lockAutoMerges(tx: Tx, userId: number): Promise<void> {
  const waiting = sql`m.auto_merge_user_id = ${userId} and m.state = 'opened'`
  await tx.run(sql`
    select
    from projects p
    where p.id = any(array(select m.project_id from merge_requests m where ${waiting}))
    order by p.id
    for key share
  `)
  await tx.run(sql`select from merge_requests m where ${waiting} order by m.id for no key update`)
}

/** Hides the personal namespaces of the users and the projects there. */
export async function markSpacesDeleting(tx: Tx, userIds: readonly number[]): Promise<void> {
  const own = sql`d.owner_id = any(${userIds}::bigint[])`
  // Namespaces first: who creates a project in one has locked its row, and is waited for; none is created after that.
  await markNamespacesDeleting(tx, own)
  await markProjectsDeleting(tx, own)
}

export const personalNamespace = (
  db: Db,
  userId: number,
): Promise<{ id: number; traversal_ids: number[] } | undefined> =>
  db.row(
    { id: integer, traversal_ids: listOf(integer) },
    sql`select id, traversal_ids from namespaces where owner_id = ${userId}`,
  )

type Column = Pick<Contribution, 'table' | 'column' | 'key' | 'countedBy' | 'referredBy'>

const countingTables = { issue_id: 'issues', project_id: 'projects' } as const

/**
 * Begins a statement: `found` has the keys of at most `limit` rows of the user, `held` those that are locked, in the order of these keys. If they are
 * deleted, what counts them and then what refers to them is locked before.
 */
const withHeld = (
  { table, column, key = 'id', countedBy, referredBy }: Column,
  userId: number,
  limit: number,
  { deletes, which = sql`true` }: { readonly deletes: boolean; readonly which?: Sql },
): Sql => {
  const isOfUser = sql`r.${raw(column)} = ${userId}`
  const isFound = sql`r.${raw(key)} = any(array(select key from found))`
  const counting =
    deletes && countedBy
      ? sql`
        select
        from ${raw(countingTables[countedBy])}
        where id = any(array(select r.${raw(countedBy)} from ${raw(table)} r where ${isFound}))
        order by id
        for no key update
      `
      : sql`select`
  const referring =
    deletes && referredBy
      ? sql`
        select
        from ${raw(table)} t cross join (select count(*) from counting) as counted
        where t.${raw(referredBy)} = any(array(select key from found))
        order by t.id
        for no key update of t
      `
      : sql`select from (select count(*) from counting) as counted`
  return sql`
    with found as materialized (
      select r.${raw(key)} as key from ${raw(table)} r where ${isOfUser} and ${which} limit ${literal(limit)}
    ),
    counting as materialized (${counting}), referring as materialized (${referring}),
    held as materialized (
      select r.${raw(key)} as key
      from ${raw(table)} r cross join (select count(*) from referring) as referred
      where ${isFound} and ${isOfUser}
      order by r.${raw(key)} for ${raw(deletes ? 'update' : 'no key update')} of r
    )
  `
}

const isHeld = ({ key = 'id' }: Column): Sql => sql`r.${raw(key)} = h.key`

/** Runs a change of what is held. Returns how many rows were found, some of which others may have deleted meanwhile. */
const changeHeld = async (db: Db, held: Sql, change: Sql): Promise<number> =>
  (await db.row({ found: integer }, sql`${held}, changed as (${change}) select count(*)::integer as found from found`))!
    .found

/**
 * Moves at most `limit` rows of the user, deletes them, or sets their author to null. A result equal to `limit` means there may be more.
 */
export const settleSome = (
  db: Db,
  of: Column,
  userId: number,
  to: { placeholder: number } | 'delete' | 'anonymize',
  limit: number,
): Promise<number> =>
  changeHeld(
    db,
    withHeld(of, userId, limit, { deletes: to === 'delete' }),
    to === 'delete'
      ? sql`delete from ${raw(of.table)} r using held h where ${isHeld(of)}`
      : sql`
        update ${raw(of.table)} r
        set ${raw(of.column)} = ${to === 'anonymize' ? null : to.placeholder}
        from held h
        where ${isHeld(of)}
      `,
  )

const deletedRow = {
  project_id: nullable(integer),
  group_id: nullable(integer),
  payload: json<Payload<DeletedRows['kind']>>(),
  has_event: boolean,
}

/** Deletes at most `limit` rows of the user; returns what their events say. */
export const deleteSomeOf = (
  tx: Tx,
  of: Column,
  { projectId = 'null::bigint', groupId = 'null::bigint', payload, unless = 'false' }: DeletedRows,
  userId: number,
  limit: number,
): Promise<RowOf<typeof deletedRow>[]> =>
  tx.rows(
    deletedRow,
    sql`
      ${withHeld(of, userId, limit, { deletes: true })}
      delete from ${raw(of.table)} r using held h
      where ${isHeld(of)}
      returning ${raw(projectId)} as project_id, ${raw(groupId)} as group_id, ${raw(payload)} as payload,
        not ${raw(unless)} as has_event
    `,
  )

/** Drops at most `limit` rows of the user that the placeholder account has too. */
export const dropSome = (
  db: Db,
  of: Column,
  once: readonly string[],
  userId: number,
  placeholder: number,
  limit: number,
): Promise<number> => {
  const alike = join(
    once.map((name) => sql`theirs.${raw(name)} is not distinct from r.${raw(name)}`),
    ' and ',
  )
  const which = sql`
    exists (select from ${raw(of.table)} theirs where theirs.${raw(of.column)} = ${placeholder} and ${alike})
  `
  return changeHeld(
    db,
    withHeld(of, userId, limit, { deletes: true, which }),
    sql`delete from ${raw(of.table)} r using held h where ${isHeld(of)}`,
  )
}

const withdrawnRow = { project_id: nullable(integer), namespace_id: nullable(integer), email: text }

/**
 * Deletes rows that refer to the user by e-mail address only: invitations, and unsent mails. Includes unconfirmed
 * addresses. Returns the invitations to projects and groups that remain.
 */
export async function deleteByAddress(tx: Tx, userId: number): Promise<RowOf<typeof withdrawnRow>[]> {
  const rows = await tx.rows(
    { address: text },
    sql`
      select lower(a.address) as address
      from users u, unnest(array[u.email, u.unconfirmed_email]) as a (address)
      where u.id = ${userId} and a.address is not null
      union
      select lower(email)
      from emails
      where user_id = ${userId}
    `,
  )
  const addresses = rows.map(({ address }) => address)
  await deleteMailsTo(tx, addresses)
  return tx.rows(
    withdrawnRow,
    sql`
      with withdrawn as (delete from invitations where lower(email) = any(${addresses}::text[]) returning *)
      select w.project_id, w.namespace_id, w.email
      from withdrawn w left join projects p on p.id = w.project_id left join namespaces n on n.id = w.namespace_id
      where p.deleting is not true and n.deleting is not true and (w.expires_at is null or w.expires_at > current_date)
      order by w.id
    `,
  )
}

/** The placeholder account, if it exists. Serialises callers until their transactions end. */
export async function findPlaceholder(tx: Tx): Promise<number | undefined> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtext('placeholder account'))`)
  return (await tx.row({ id: integer }, sql`select id from users where kind = 'ghost'`))?.id
}

/** The name itself, or with the first number that makes it free. */
export const freeName = async (tx: Tx, name: string): Promise<string> =>
  (await tx.row(
    { name: text },
    sql`
      select ${name}::text || coalesce(nullif(n, 0)::text, '') as name
      from generate_series(0, 10000) n
      where not exists (
          select from routes where path_key = ${name}::text || coalesce(nullif(n, 0)::text, '') and not redirect
        )
        and not exists (select from users where lower(username) = ${name}::text || coalesce(nullif(n, 0)::text, ''))
        and not exists (
          select
          from email_addresses
          where address = ${name}::text || coalesce(nullif(n, 0)::text, '') || '@example.com'
        )
      order by n
      limit 1
    `,
  ))!.name

/**
 * Deletes the memberships of these users, and the access that they have by any of them. Returns those of projects and groups that
 * remain. The access lock is held.
 */
export async function deleteMemberships(tx: Tx, userIds: readonly number[]): Promise<EndedMember[]> {
  const ended = await tx.rows(
    endedRow,
    sql`
      with ended as (delete from members where user_id = any(${userIds}::bigint[]) returning *)
      select e.user_id, e.project_id, e.namespace_id, e.access_level as level, e.expires_at
      from ended e
        left join projects p on p.id = e.project_id
        join namespaces d on d.id = coalesce(e.namespace_id, p.namespace_id)
      where not d.deleting
        and p.deleting is not true
        and (d.owner_id is null or d.owner_id <> all(${userIds}::bigint[]))
      order by e.id
    `,
  )
  await deleteAccessOf(tx, userIds)
  return ended
}
