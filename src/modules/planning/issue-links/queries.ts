import type { Caller } from '../../../access/actor.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, oneOf, type RowOf, timestamp } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { readableRow } from '../../discussion/index.ts'
import { visibleProjects } from '../../projects/index.ts'

/** What an issue is to the other side of a link. */
export const linkTypes = ['relates_to', 'blocks', 'is_blocked_by'] as const
export type LinkType = (typeof linkTypes)[number]

/** A link as one of its two issues sees it. */
export const linkRow = {
  id: integer,
  /** The issue on the other side. */
  other_id: integer,
  link_type: oneOf<LinkType>(...linkTypes),
  created_at: timestamp,
  updated_at: timestamp,
}
export type LinkRow = RowOf<typeof linkRow>

const linksSeenFrom = (issueId: number) => sql`
  (
    select id, target_id as other_id, link_type, created_at, updated_at
    from issue_links
    where source_id = ${issueId}
    union all
    select id, source_id, case link_type when 'blocks' then 'is_blocked_by' else link_type end, created_at, updated_at
    from issue_links
    where target_id = ${issueId}
  )
`

/** Links of an issue to issues that the caller may read, oldest first. */
export const readableLinks = (db: Db, caller: Caller, issueId: number): Promise<LinkRow[]> =>
  db.rows(
    linkRow,
    sql`
      select k.id, k.other_id, k.link_type, k.created_at, k.updated_at
      from ${linksSeenFrom(issueId)} k
        join issues m on m.id = k.other_id
        join projects p on p.id = m.project_id and not p.deleting
      where ${visibleProjects(caller)} and ${readableRow('Issue', caller)}
      order by k.id
    `,
  )

export const findLink = (db: Db, issueId: number, id: number): Promise<LinkRow | undefined> =>
  db.row(linkRow, sql`select * from ${linksSeenFrom(issueId)} k where k.id = ${id}`)

/** The higher number of links that one of two issues has. */
export const mostLinks = async (tx: Tx, a: number, b: number): Promise<number> =>
  (await tx.row(
    { count: integer },
    sql`
      select greatest(
        (select count(*) from ${linksSeenFrom(a)} k), (select count(*) from ${linksSeenFrom(b)} k)
      ) as count
    `,
  ))!.count

/** Returns the id; undefined if the issues are linked already. */
export const insertLink = async (
  tx: Tx,
  link: { readonly sourceId: number; readonly targetId: number; readonly type: Exclude<LinkType, 'is_blocked_by'> },
): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
        insert into issue_links (source_id, target_id, link_type)
        values (${link.sourceId}, ${link.targetId}, ${link.type})
        on conflict do nothing
        returning id
      `,
    )
  )?.id

/** False if it is deleted already. */
export const deleteLink = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`delete from issue_links where id = ${id}`)) > 0
