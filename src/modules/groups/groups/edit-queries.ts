import { levels } from '../../../access/levels.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { within } from '../../namespaces/index.ts'
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

/** Inserts a group below `parent` or at the top level, with default attributes. */
export const insertGroup = async (
  tx: Tx,
  group: {
    name: string
    path: string
    parent: Pick<GroupRow, 'id' | 'traversal_ids' | 'full_path' | 'full_name'> | undefined
    runnersToken: string
  },
): Promise<number> => {
  const { parent } = group
  const row = await tx.row<{ id: number }>(sql`
    with next as (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id)
    insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_path, full_name, runners_token)
    select id, 'group', ${parent?.id ?? null}::bigint, ${parent?.traversal_ids ?? []}::bigint[] || id, ${group.name}, ${group.path},
      ${parent ? `${parent.full_path}/${group.path}` : group.path}, ${parent ? `${parent.full_name} / ${group.name}` : group.name}, ${group.runnersToken}
    from next returning id`)
  return row!.id
}

export const updateGroupAttributes = (tx: Tx, id: number, attributes: Partial<GroupAttributes>): Promise<number> =>
  tx.run(sql`update namespaces set ${assignments(attributes)} where id = ${id}`)

/** Locks sharing of all groups below a locked one. */
export const lockSharingBelow = (tx: Tx, traversalIds: readonly number[]): Promise<number> =>
  tx.run(sql`update namespaces d set share_with_group_lock = true
    where not d.share_with_group_lock and ${within(raw('d.traversal_ids'), sql`${traversalIds}::bigint[]`)}`)

/** Highest visibility of the projects and subgroups directly inside; null without any. */
export const visibilitiesInside = async (
  db: Db,
  id: number,
): Promise<{ projects: number | null; groups: number | null }> =>
  (await db.row(sql`select (select max(visibility) from projects where namespace_id = ${id} and not deleting) as projects,
    (select max(visibility) from namespaces where parent_id = ${id} and not deleting) as groups`))!

/** Makes the creator an owner. */
export const insertOwner = (tx: Tx, groupId: number, userId: number): Promise<number> =>
  tx.run(
    sql`insert into members (namespace_id, user_id, access_level, created_by_id) values (${groupId}, ${userId}, ${levels.owner}, ${userId})`,
  )
