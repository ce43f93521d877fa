import { levels } from '../../../access/levels.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, nullable } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { updateNamespace, within } from '../../namespaces/index.ts'
import type { GroupRow } from './queries.ts'

const attributeNames = [
  'name',
  'description',
  'visibility',
  'share_with_group_lock',
  'membership_lock',
  'require_two_factor_authentication',
  'two_factor_grace_period',
  'project_creation_level',
  'subgroup_creation_level',
  'auto_devops_enabled',
  'emails_disabled',
  'mentions_disabled',
  'lfs_enabled',
  'request_access_enabled',
  'file_template_project_id',
  'shared_runners_minutes_limit',
  'extra_shared_runners_minutes_limit',
] as const satisfies readonly (keyof GroupRow)[]

/** Attributes of a group that create and edit set, as columns. */
export type GroupAttributes = Pick<GroupRow, (typeof attributeNames)[number]>

/** Attributes that `updateGroupAttributes` accepts; other parameters are not attributes. */
export const groupAttributeNames: ReadonlySet<string> = new Set(attributeNames)

const assignments = (attributes: Partial<GroupAttributes>): Sql =>
  Object.entries(attributes).reduce((all, [name, value]) => {
    if (!groupAttributeNames.has(name)) throw new Error(`not an attribute of groups: ${name}`)
    return sql`${all}, ${raw(name)} = ${value}`
  }, sql`updated_at = now()`)

export const updateGroupAttributes = (tx: Tx, id: number, attributes: Partial<GroupAttributes>): Promise<number> =>
  updateNamespace(tx, id, assignments(attributes))

/** Highest visibility of the projects and subgroups directly inside; null without any. */
export const visibilitiesInside = async (
  db: Db,
  id: number,
): Promise<{ projects: number | null; groups: number | null }> =>
  (await db.row(
    { projects: nullable(integer), groups: nullable(integer) },
    sql`
      select (select max(visibility) from projects where namespace_id = ${id} and not deleting) as projects,
        (select max(visibility) from namespaces where parent_id = ${id} and not deleting) as groups
    `,
  ))!

/** Those of the rows `inside`, a query of ids, that another transaction has locked. The others are locked until the end. */
async function lockedAmong(
  tx: Tx,
  table: 'projects' | 'namespaces',
  inside: Sql,
  lock: 'share' | 'update',
): Promise<number[]> {
  const rows = await tx.rows(
    { id: integer },
    sql`
      with inside as materialized (${inside}),
      unlocked as (select r.id from ${raw(table)} r join inside i on i.id = r.id for ${raw(lock)} of r skip locked)
      select id
      from inside
      where id not in (select id from unlocked)
      order by id
    `,
  )
  return rows.map(({ id }) => id)
}

const groupsInside = (groupId: number): Sql => sql`
  select d.id
  from namespaces g join namespaces d on ${within(raw('d.traversal_ids'), raw('g.traversal_ids'))}
  where g.id = ${groupId}
`

/** The projects inside a group that a transaction changes now, such as an import into one of them. */
export const projectsInChange = (tx: Tx, groupId: number): Promise<number[]> =>
  lockedAmong(tx, 'projects', sql`select id from projects where namespace_id in (${groupsInside(groupId)})`, 'share')

export const awaitProject = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`select from projects where id = ${id} for share`)

/** A group and those below it that a transaction changes or keeps in its place now. */
export const placesHeld = (tx: Tx, groupId: number): Promise<number[]> =>
  lockedAmong(tx, 'namespaces', groupsInside(groupId), 'update')

export const awaitPlace = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`select from namespaces where id = ${id} for update`)

/** Makes the creator of new groups their owner. */
export const insertOwner = (tx: Tx, groupIds: readonly number[], userId: number): Promise<number> =>
  tx.run(
    sql`
      insert into members (namespace_id, user_id, access_level, created_by_id)
      select id, ${userId}, ${levels.owner}, ${userId}
      from unnest(${groupIds}::bigint[]) with ordinality as made (id, place)
      order by place
    `,
  )
