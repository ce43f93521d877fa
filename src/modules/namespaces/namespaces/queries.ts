import { randomBytes } from 'node:crypto'
import type { Actor } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, listOf, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { containing, literal, raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import { groupLevel, within } from '../access-index/queries.ts'
import type { Pictured } from '../avatars/addresses.ts'

/** Whether a project is where the wiki of a group with this path would be. */
export const wikiPathTaken = (fullPath: string): Sql => sql`
  exists (
    select from routes w where w.path_key = lower(${`${fullPath}.wiki`}) and w.project_id is not null and not w.redirect
  )
`

/**
 * Reserves a path for a namespace or project. False if it is taken, or if the wiki of the group would be where a project is; redirects are
 * replaced.
 */
export async function claimRoute(
  tx: Tx,
  fullPath: string,
  owner: { namespaceId: number } | { projectId: number },
): Promise<boolean> {
  const namespaceId = 'namespaceId' in owner ? owner.namespaceId : null
  const projectId = 'projectId' in owner ? owner.projectId : null
  const claimed = await tx.run(sql`
    insert into routes (path_key, namespace_id, project_id)
    select lower(${fullPath}), ${namespaceId}::bigint, ${projectId}::bigint
    where ${namespaceId === null ? raw('true') : sql`not ${wikiPathTaken(fullPath)}`}
    on conflict (path_key) do update
      set namespace_id = excluded.namespace_id, project_id = excluded.project_id, redirect = false where routes.redirect
  `)
  return claimed > 0
}

/** Turns the current paths of a project into redirects, so that a new path can be claimed. */
export const retireProjectRoute = (tx: Tx, projectId: number): Promise<number> =>
  tx.run(sql`update routes set redirect = true where project_id = ${projectId} and not redirect`)

export const namespaceRow = {
  id: integer,
  kind: oneOf('user', 'group'),
  parent_id: nullable(integer),
  owner_id: nullable(integer),
  name: text,
  path: text,
  full_path: text,
  visibility: integer,
  avatar: nullable(text),
  traversal_ids: listOf(integer),
  share_with_group_lock: boolean,
  project_creation_level: oneOf('noone', 'maintainer', 'developer'),
}
export type NamespaceRow = RowOf<typeof namespaceRow>

/** With the caller's level, which permissions and the visibility of the member count depend on. */
export const namespaceWithLevelRow = {
  ...namespaceRow,
  level: nullable(integer),
  /** Only for records, and only for callers who manage the group. */
  members_count: nullable(integer),
  /** Owner of a personal namespace. */
  owner: nullable(json<Pictured>()),
  /** An archive is being imported into it. */
  importing: boolean,
}
export type NamespaceWithLevel = RowOf<typeof namespaceWithLevelRow>

const columns = raw(
  'n.id, n.kind, n.parent_id, n.owner_id, n.name, n.path, n.full_path, n.visibility, n.avatar, n.traversal_ids, n.share_with_group_lock, n.project_creation_level',
)

const level = (actor: Actor): Sql => groupLevel(actor.id, sql`n.id`)

/** Direct members of a group and of the groups below it, each once. */
const membersCount = (actor: Actor): Sql => sql`
  case
    when n.kind = 'group'
      and (${actor.admin} or ${level(actor)} >= ${literal(levels.maintainer)}) then (
        select count(distinct m.user_id)
        from namespaces d join members m on m.namespace_id = d.id
        where ${within(raw('d.traversal_ids'), raw('n.traversal_ids'))} and not d.deleting and ${unexpired('m')}
      )
  end
`

const owner = raw(
  `(select json_build_object('id', u.id, 'avatar', u.avatar, 'email', u.email) from users u where u.id = n.owner_id)`,
)

/** Counting members of a large tree takes longer than everything else, so it is left to records. */
const select = (actor: Actor, { counted = false } = {}): Sql =>
  sql`
    select ${columns}, ${level(actor)} as level,
      ${counted ? membersCount(actor) : raw('null::bigint')} as members_count, ${owner} as owner,
      exists (select from archive_imports i where i.namespace_id = n.id) as importing
    from namespaces n
  `

/** Namespaces in which the caller has a level; all for administrators. */
export const namespacesOf = (actor: Actor, filters: { search?: string; owned_only: boolean }): List => ({
  type: 'Namespace',
  select: select(actor, { counted: true }),
  from: sql`from namespaces n`,
  key: raw('n.id'),
  where: [
    sql`not n.deleting`,
    ...(actor.admin && !filters.owned_only
      ? []
      : [
          sql`
            n.id in (
              select group_id
              from group_access
              where user_id = ${actor.id} and level >= ${filters.owned_only ? 50 : 10} and expires_on > current_date
            )
          `,
        ]),
    ...(filters.search
      ? [sql`(n.name ilike ${containing(filters.search)} or n.full_path ilike ${containing(filters.search)})`]
      : []),
  ],
  order: [{ by: sql`n.id`, direction: 'asc' }],
  keyset: { direction: 'asc' },
})

/** By id or, ignoring case, full path. Found if it is visible to the caller or the caller has a level in it. */
export const findNamespace = (
  db: Db,
  actor: Actor,
  idOrPath: number | string,
  options: { counted?: boolean } = {},
): Promise<NamespaceWithLevel | undefined> =>
  db.row(
    namespaceWithLevelRow,
    typeof idOrPath === 'number'
      ? sql`${select(actor, options)} where n.id = ${idOrPath} and not n.deleting`
      : sql`
        ${select(actor, options)}
        join routes r on r.namespace_id = n.id
        where r.path_key = lower(${idOrPath}) and not n.deleting
      `,
  )

/** Locks the row against moves and deletion until the transaction ends. */
export const lockNamespace = (tx: Tx, id: number): Promise<NamespaceRow | undefined> =>
  tx.row(namespaceRow, sql`select ${columns} from namespaces n where n.id = ${id} and not n.deleting for share`)

/** Creates the personal namespace of a new user. Undefined if the path is taken. */
export async function insertUserNamespace(
  tx: Tx,
  userId: number,
  username: string,
  name: string,
): Promise<number | undefined> {
  const row = await tx.row(
    { id: integer },
    sql`
      with next as (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id)
      insert into namespaces (
        id, kind, owner_id, traversal_ids, name, path, full_path, full_name, visibility, runners_token
      )
      select id, 'user', ${userId}, array[id], ${name}, ${username}, ${username}, ${name}, 20, ${newRunnersToken()}
      from next
      returning id
    `,
  )
  const id = row!.id
  return (await claimRoute(tx, username, { namespaceId: id })) ? id : undefined
}

/** 20 characters, the length that clients expect of a registration token. */
export const newRunnersToken = (): string => randomBytes(15).toString('base64url')

/** Personal namespace of a user, as the caller sees it. */
export const personalNamespaceOf = (db: Db, actor: Actor, userId: number): Promise<NamespaceWithLevel | undefined> =>
  db.row(namespaceWithLevelRow, sql`${select(actor)} where n.owner_id = ${userId}`)

/** As `findNamespace`, by the current full path only: redirects do not apply when something is created. */
export const findNamespaceByPath = (db: Db, actor: Actor, fullPath: string): Promise<NamespaceWithLevel | undefined> =>
  db.row(
    namespaceWithLevelRow,
    sql`
      ${select(actor)}
      join routes r on r.namespace_id = n.id
      where r.path_key = lower(${fullPath}) and not r.redirect and not n.deleting
    `,
  )
