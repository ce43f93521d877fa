import type { Tx } from '../../../db/db.ts'
import { boolean, integer, listOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { emit } from '../../../events/log.ts'
import { taken } from '../../../kernel/violations.ts'
import { idsInside, insideOf } from '../access-index/queries.ts'
import { fullPathViolations } from './names.ts'
import { wikiPathTaken } from './queries.ts'

/**
 * Locks the namespaces, then the projects that a rename writes: those inside, whose paths follow, and those shared with one of the groups,
 * whose records name it.
 */
async function lockRenamed(tx: Tx, traversalIds: readonly number[]): Promise<void> {
  const groups = idsInside(traversalIds)
  await tx.run(sql`select from namespaces d where ${insideOf(traversalIds)} order by d.id for no key update`)
  await tx.run(sql`
    select
    from projects p
    where p.id = any(
      array(
        select id from projects where namespace_id in (${groups})
        union select project_id from project_group_links where group_id in (${groups})
      )
    )
    order by p.id
    for no key update
  `)
}

/**
 * Locks what the rename changes, and turns the paths of a namespace and its descendants into redirects, so that new paths can be claimed. Before
 * the first change of a row: a trigger touches the projects that are shared with a group whose name changes.
 */
export async function retireRoutes(tx: Tx, traversalIds: readonly number[]): Promise<void> {
  await lockRenamed(tx, traversalIds)
  await tx.run(sql`
    update routes
    set redirect = true
    where not redirect
      and (
        namespace_id in (${idsInside(traversalIds)})
        or project_id in (
          select p.id from projects p join namespaces d on d.id = p.namespace_id where ${insideOf(traversalIds)}
        )
      )
  `)
}

/**
 * Changes path or name of a namespace, and the full paths and names of its descendants. Returns an error message if a
 * new full path is taken or too long; the caller must then roll back. Old routes must be retired first.
 */
export async function renameTree(
  tx: Tx,
  traversalIds: readonly number[],
  from: { fullPath: string; fullName: string },
  to: { path: string; fullPath: string; fullName: string },
): Promise<string | undefined> {
  const inside = insideOf(traversalIds)
  const id = traversalIds.at(-1)!
  await tx.run(sql`
    update namespaces d
    set path = case when d.id = ${id} then ${to.path} else d.path end,
      full_path = ${to.fullPath} || substr(d.full_path, length(${from.fullPath}::text) + 1),
      full_name = ${to.fullName} || substr(d.full_name, length(${from.fullName}::text) + 1)
    where ${inside}
  `)
  // Projects follow by a reaction, before their paths are read below. The events of the callers name the actor.
  await emit(tx, { kind: 'namespace_renamed', actorId: null, payload: { namespace_id: id } })
  const longest = await tx.row(
    { full_path: text },
    sql`
      select full_path
      from (
        select d.full_path from namespaces d where ${inside}
        union all select p.full_path from projects p join namespaces d on d.id = p.namespace_id where ${inside}
      ) as named
      order by length(full_path) desc
      limit 1
    `,
  )
  const [tooLong] = fullPathViolations(longest!.full_path)
  if (tooLong !== undefined) return tooLong
  const wanted = await tx.row(
    { count: integer, wiki: boolean },
    sql`
      with named as (
        select lower(d.full_path) as path_key, d.id as namespace_id, null::bigint as project_id
        from namespaces d
        where ${inside}
        union all
        select lower(p.full_path), null, p.id
        from projects p join namespaces d on d.id = p.namespace_id
        where ${inside}
      ),
      claimed as (
        insert into routes (path_key, namespace_id, project_id)
        select path_key, namespace_id, project_id
        from named
        on conflict (path_key) do update
          set namespace_id = excluded.namespace_id, project_id = excluded.project_id, redirect = false
          where routes.redirect
        returning 1
      )
      select (select count(*) from named) - (select count(*) from claimed) as count,
        ${wikiPathTaken(to.fullPath)} as wiki
    `,
  )
  return wanted!.count === 0 && !wanted!.wiki ? undefined : taken
}

/** Locks the personal namespace of a user before the account: the creation of a project in it locks them in this order. */
export const lockPersonalNamespace = (tx: Tx, ownerId: number): Promise<number> =>
  tx.run(sql`select from namespaces where owner_id = ${ownerId} for no key update`)

/** Renames the personal namespace to the user's new user name and name. False if the path is taken. */
export async function renamePersonalNamespace(
  tx: Tx,
  ownerId: number,
  to: { path: string; name: string },
): Promise<boolean> {
  const held = await tx.row(
    { traversal_ids: listOf(integer), full_path: text, full_name: text },
    sql`
      update namespaces
      set name = ${to.name}, updated_at = now()
      where owner_id = ${ownerId} and not deleting
      returning traversal_ids, full_path, full_name
    `,
  )
  if (!held) return true
  const { traversal_ids, full_path, full_name } = held
  await retireRoutes(tx, traversal_ids)
  const from = { fullPath: full_path, fullName: full_name }
  return !(await renameTree(tx, traversal_ids, from, { path: to.path, fullPath: to.path, fullName: to.name }))
}
