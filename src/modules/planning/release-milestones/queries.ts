import type { Caller } from '../../../access/actor.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, notNull, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { readableRow } from '../../discussion/index.ts'
import { reaching } from '../../groups/index.ts'
import { visibleProjects } from '../../projects/index.ts'
import { type MilestoneRow, milestoneJson } from '../milestones/queries.ts'

export const releaseMilestoneRow = {
  release_id: integer,
  milestone: notNull(json<MilestoneRow>()),
  /** Its issues that the caller may read, in all projects. */
  total: integer,
  closed: integer,
}
export type ReleaseMilestoneRow = RowOf<typeof releaseMilestoneRow>

/** The milestones of releases, those that are due first at the beginning. */
export const milestonesOfReleases = (
  db: Db,
  caller: Caller,
  releaseIds: readonly number[],
): Promise<ReleaseMilestoneRow[]> =>
  db.rows(
    releaseMilestoneRow,
    sql`
      with named as materialized (
        select rm.release_id, rm.milestone_id
        from release_milestones rm
        where rm.release_id = any(${releaseIds}::bigint[])
      ),
      counted as materialized (
        select d.milestone_id, s.total, s.closed
        from (select distinct milestone_id from named) as d
          cross join lateral (
            select count(*) as total, count(*) filter (where m.state = 'closed') as closed
            from issues m join projects p on p.id = m.project_id
            where m.milestone_id = d.milestone_id
              and not p.deleting
              and ${visibleProjects(caller)}
              and ${readableRow('Issue', caller)}
          ) as s
      )
      select n.release_id, ${milestoneJson('ms')} as milestone, c.total, c.closed
      from named n join milestones ms on ms.id = n.milestone_id join counted c on c.milestone_id = n.milestone_id
      order by n.release_id, ms.due_date nulls last, ms.start_date nulls last, ms.title, ms.id
    `,
  )

/**
 * Milestones with these titles that a project may use: its own, else that of the nearest group come first of those with one title. They are
 * locked against deletion until the transaction ends.
 */
export const lockMilestonesByTitle = (
  tx: Tx,
  projectId: number,
  titles: readonly string[],
): Promise<{ id: number; title: string }[]> =>
  tx.rows(
    { id: integer, title: text },
    sql`
      select ms.id, ms.title
      from milestones ms left join namespaces g on g.id = ms.namespace_id
      where ms.title = any(${titles}::text[]) and ${reaching('ms', sql`${projectId}`)}
      order by ms.project_id is not null desc, cardinality(g.traversal_ids) desc, ms.id desc
      for key share of ms
    `,
  )

/** A release has these milestones and no others. */
export async function replaceMilestones(tx: Tx, releaseId: number, ids: readonly number[]): Promise<boolean> {
  const removed = await tx.run(sql`
    delete from release_milestones where release_id = ${releaseId} and milestone_id <> all(${ids}::bigint[])
  `)
  const added = await tx.run(sql`
    insert into release_milestones (release_id, milestone_id)
    select ${releaseId}, unnest(${ids}::bigint[])
    on conflict do nothing
  `)
  return removed + added > 0
}
