import type { Db } from '../../../db/db.ts'
import { integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { within } from '../../namespaces/index.ts'
import { groupSettings } from '../groups/queries.ts'

export const portableGroupRow = {
  id: integer,
  parent_id: nullable(integer),
  path: text,
  name: text,
  description: text,
  visibility: integer,
  ...groupSettings,
}
export type PortableGroup = RowOf<typeof portableGroupRow>

/** A group and all groups below it: parents before their subgroups, and these by path. */
export const portableGroups = (db: Db, id: number): Promise<PortableGroup[]> =>
  db.rows(
    portableGroupRow,
    sql`
      select t.id, t.parent_id, t.path, t.name, t.description, t.visibility, t.share_with_group_lock, t.membership_lock,
        t.require_two_factor_authentication, t.two_factor_grace_period, t.project_creation_level,
        t.subgroup_creation_level, t.auto_devops_enabled, t.emails_disabled, t.mentions_disabled, t.lfs_enabled,
        t.request_access_enabled
      from namespaces g join namespaces t on ${within(raw('t.traversal_ids'), raw('g.traversal_ids'))}
      where g.id = ${id} and g.kind = 'group' and not t.deleting
      order by cardinality(t.traversal_ids), t.full_path collate "C"
    `,
  )
