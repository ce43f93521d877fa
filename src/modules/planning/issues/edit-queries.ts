import type { Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { empty, raw, sql } from '../../../db/sql.ts'
import { nextNumbers, reachNumber } from '../../projects/index.ts'
import type { AgentRow } from './agent-queries.ts'

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
  /** Where the request came from; stored for the author's account. */
  readonly agent: AgentRow | null
}

/**
 * Undefined if the project is being deleted. Locks it, as the trigger that copies its visibility would after the number is taken: a move has
 * locked it when it takes one. Violates `issues_project_id_iid_key` if the number is taken.
 */
export const insertIssue = (tx: Tx, m: NewIssue): Promise<{ id: number; iid: number } | undefined> =>
  tx.row(
    { id: integer, iid: integer },
    sql`
      with target as (select id from projects where id = ${m.projectId} and not deleting for no key update),
      numbered as (
        ${
          m.iid === undefined
            ? nextNumbers('issues', raw('select id as project_id from target'))
            : reachNumber('issues', m.iid, raw('select id as project_id from target'))
        }
      ),
      made as (
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
      ),
      agent as (
        insert into issue_agents (issue_id, user_id, user_agent, ip_address)
        select made.id, ${m.authorId}, ${m.agent?.user_agent ?? null}::text, ${m.agent?.ip_address ?? null}::text
        from made
        where ${m.agent !== null}
      )
      select id, iid
      from made
    `,
  )

export const saveTimeEstimate = (tx: Tx, id: number, seconds: number): Promise<number> =>
  tx.run(sql`update issues set time_estimate = ${seconds}, updated_at = now() where id = ${id}`)

/** The attributes of an issue that an edit writes. */
export type IssueValues = {
  readonly title: string
  readonly description: string | null
  /** Unchanged if absent. */
  readonly confidential: boolean | undefined
  readonly discussionLocked: boolean | null
  readonly milestoneId: number | null
  /** `YYYY-MM-DD` */
  readonly dueDate: string | null
  readonly weight: number | null
  /** Unchanged if absent. */
  readonly createdAt: Date | undefined
}

/** Only a change of `confidential` locks the project, whose visibility is copied then. */
export const saveIssueValues = (tx: Tx, id: number, v: IssueValues): Promise<number> =>
  tx.run(sql`
    update issues
    set title = ${v.title}, description = ${v.description},
      ${v.confidential === undefined ? empty : sql`confidential = ${v.confidential},`} discussion_locked = ${v.discussionLocked},
      milestone_id = ${v.milestoneId}, due_date = ${v.dueDate}::date, weight = ${v.weight},
      created_at = coalesce(${v.createdAt ?? null}::timestamptz, created_at)
    where id = ${id}
  `)

export const saveClosed = (tx: Tx, id: number, userId: number, at: Date | undefined): Promise<number> =>
  tx.run(sql`
    update issues
    set state = 'closed', closed_at = coalesce(${at ?? null}::timestamptz, now()), closed_by_id = ${userId}
    where id = ${id}
  `)

export const saveReopened = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`
    update issues
    set state = 'opened', closed_at = null, closed_by_id = null, moved_to_id = null, duplicated_to_id = null
    where id = ${id}
  `)

/**
 * Locks the issues that were moved to this one or are duplicates of it, which its deletion changes: the older ones before it, the newer ones after it,
 * because issues are locked in the order of their ids.
 */
export const lockContinued = (tx: Tx, id: number, which: 'older' | 'newer'): Promise<number> =>
  tx.run(sql`
    select
    from issues
    where (moved_to_id = ${id} or duplicated_to_id = ${id}) and id ${raw(which === 'older' ? '<' : '>')} ${id}
    order by id
    for no key update
  `)

/** Stores of which other issue this one is a duplicate. */
export const saveDuplicatedTo = (tx: Tx, id: number, duplicatedToId: number): Promise<number> =>
  tx.run(sql`update issues set duplicated_to_id = ${duplicatedToId}, updated_at = now() where id = ${id}`)

export const deleteIssue = (tx: Tx, id: number): Promise<number> => tx.run(sql`delete from issues where id = ${id}`)
