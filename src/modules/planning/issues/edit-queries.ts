import type { Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { nextNumbers, reachNumber } from '../../projects/index.ts'

export type NewIssue = {
  readonly projectId: number
  readonly title: string
  readonly description: string | null
  readonly authorId: number
  readonly confidential: boolean
  readonly discussionLocked: boolean | null
  readonly milestoneId: number | null
  /** `YYYY-MM-DD` */
  readonly dueDate: string | null
  readonly weight: number | null
  /** The next number of the project if absent. */
  readonly iid: number | undefined
  readonly createdAt: Date | undefined
}

/** Undefined if the project is being deleted. Violates `issues_project_id_iid_key` if the number is taken. */
export const insertIssue = (tx: Tx, m: NewIssue): Promise<{ id: number; iid: number } | undefined> =>
  tx.row(
    { id: integer, iid: integer },
    sql`
      with target as (select id from projects where id = ${m.projectId} and not deleting for key share),
      numbered as (
        ${
          m.iid === undefined
            ? nextNumbers('issues', raw('select id as project_id from target'))
            : reachNumber('issues', m.iid, raw('select id as project_id from target'))
        }
      )
      insert into issues (
        iid, project_id, title, description, author_id, confidential, discussion_locked, milestone_id,
        due_date, weight, created_at, updated_at
      )
      select ${m.iid === undefined ? raw('numbered.last') : sql`${m.iid}::integer`}, ${m.projectId}, ${m.title},
        ${m.description}, ${m.authorId}, ${m.confidential}, ${m.discussionLocked}::boolean, ${m.milestoneId}::bigint,
        ${m.dueDate}::date, ${m.weight}::integer, coalesce(${m.createdAt ?? null}::timestamptz, now()),
        coalesce(${m.createdAt ?? null}::timestamptz, now())
      from numbered
      returning id, iid
    `,
  )

export const saveTimeEstimate = (tx: Tx, id: number, seconds: number): Promise<number> =>
  tx.run(sql`update issues set time_estimate = ${seconds}, updated_at = now() where id = ${id}`)

export const saveClosed = (tx: Tx, id: number, userId: number, at: Date | undefined): Promise<number> =>
  tx.run(sql`
    update issues
    set state = 'closed', closed_at = coalesce(${at ?? null}::timestamptz, now()), closed_by_id = ${userId}
    where id = ${id}
  `)
