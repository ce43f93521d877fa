import type { Caller } from '../../../access/actor.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, type RowOf } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { joinHolder, readableRow, visibleHolder } from '../../discussion/index.ts'

/** The epic of an issue, as records of issues name it. */
export type EpicReferenceRow = {
  readonly id: number
  readonly iid: number
  readonly title: string
  readonly group_id: number
  readonly full_path: string
}

/** The epic of the issue `m` as JSON; null if it has none that the caller may read. */
export const epicOfIssueJson = (caller: Caller): Sql => sql`
  (
    select json_build_object(
      'id', m.id, 'iid', m.iid, 'title', m.title, 'group_id', m.namespace_id, 'full_path', g.full_path
    )
    from (select ei.epic_id from epic_issues ei where ei.issue_id = m.id) as link
      join epics m on m.id = link.epic_id ${joinHolder('Epic')}
    where ${visibleHolder('Epic', caller)} and ${readableRow('Epic', caller)}
  )
`

/** The id of the epic of the issue `m`, also of one that the caller may not read. */
export const epicIdOfIssue = raw('(select ei.epic_id from epic_issues ei where ei.issue_id = m.id)')

const linkRow = { id: integer, epic_id: integer, issue_id: integer, relative_position: integer }
export type LinkRow = RowOf<typeof linkRow>

const columns = raw('ei.id, ei.epic_id, ei.issue_id, ei.relative_position')

export const findLinkOfIssue = (db: Db, issueId: number): Promise<LinkRow | undefined> =>
  db.row(linkRow, sql`select ${columns} from epic_issues ei where ei.issue_id = ${issueId}`)

/** The link of an epic with this id. */
export const findLink = (db: Db, epicId: number, id: number): Promise<LinkRow | undefined> =>
  db.row(linkRow, sql`select ${columns} from epic_issues ei where ei.epic_id = ${epicId} and ei.id = ${id}`)

export const countIssuesOf = async (tx: Tx, epicId: number): Promise<number> =>
  (await tx.row({ total: integer }, sql`select count(*)::integer as total from epic_issues where epic_id = ${epicId}`))!
    .total

/**
 * Makes an issue the last of an epic, and removes it from another one. Undefined unless the group of the epic is above the project of the
 * issue. Both rows are locked.
 */
export const saveLink = (tx: Tx, epicId: number, issueId: number): Promise<LinkRow | undefined> =>
  tx.row(
    linkRow,
    sql`
      insert into epic_issues as ei (epic_id, issue_id, relative_position)
      select e.id, i.id, (select coalesce(max(o.relative_position), 0) + 1 from epic_issues o where o.epic_id = e.id)
      from epics e
        join issues i on i.id = ${issueId}
        join projects p on p.id = i.project_id
        join namespaces n on n.id = p.namespace_id and e.namespace_id = any(n.traversal_ids)
      where e.id = ${epicId}
      on conflict (issue_id) do update set epic_id = excluded.epic_id, relative_position = excluded.relative_position
      returning ${columns}
    `,
  )

export const deleteLink = (tx: Tx, issueId: number): Promise<number> =>
  tx.run(sql`delete from epic_issues where issue_id = ${issueId}`)

/** Gives the link of an issue to the one that continues it, if the epic is of a group above that. */
export const moveLink = (tx: Tx, fromId: number, toId: number): Promise<number> =>
  tx.run(sql`
    update epic_issues ei
    set issue_id = ${toId}
    from epics e, issues i, projects p, namespaces n
    where ei.issue_id = ${fromId}
      and e.id = ei.epic_id
      and i.id = ${toId}
      and p.id = i.project_id
      and n.id = p.namespace_id
      and e.namespace_id = any(n.traversal_ids)
  `)
