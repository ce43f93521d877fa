import type { Caller } from '../../src/access/actor.ts'
import { client } from './seeded.ts'

/** Rows of tables and entries of indexes that may be read to find the rows of a page of 20, for a caller without memberships. */
export const maximumReads = 1_000

/** What a caller is a member of: the groups with those above, the projects, and the merge requests there. */
const memberships = `
  with mine as (
    select p.id
    from projects p
    where p.namespace_id in (select group_id from group_access where user_id = $1)
      or p.id in (select project_id from project_access where user_id = $1)
  )
  select (select count(*) from mine) + 2 * (select count(*) from merge_requests where project_id in (select id from mine))
    + (
      select coalesce(sum(cardinality(n.traversal_ids)), 0)
      from group_access a join namespaces n on n.id = a.group_id
      where a.user_id = $1
    )
    + (select count(*) from stars where user_id = $1)
    + 2 * (select count(*) from merge_requests where author_id = $1)
    + (select count(*) from merge_request_assignees where user_id = $1) as count
`
/** Of each membership, some tables and indexes are read. */
const readsOfMembership = 5

/** What may be read more for a caller who is a member of groups and projects. */
export async function readsOfMemberships(caller: Caller): Promise<number> {
  const { rows } = await client.query(memberships, [caller?.id ?? 0])
  return readsOfMembership * Number(rows[0].count)
}
