import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { boolean, date, integer, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { around, heldBy, type ProjectOrGroupHolder, reaching } from '../../groups/index.ts'
import { visibleGroups } from '../../namespaces/index.ts'
import { visibleProjects } from '../../projects/index.ts'

export const milestoneStates = ['active', 'closed'] as const

export const milestoneRow = {
  id: integer,
  /** Its number in the project or group. */
  iid: integer,
  /** One of the two is null. */
  project_id: nullable(integer),
  namespace_id: nullable(integer),
  /** Path of the project or group. */
  full_path: text,
  title: text,
  description: nullable(text),
  state: oneOf<(typeof milestoneStates)[number]>('active', 'closed'),
  start_date: nullable(date),
  due_date: nullable(date),
  created_at: timestamp,
  updated_at: timestamp,
}
export type MilestoneRow = RowOf<typeof milestoneRow>

/** The columns of its own record. */
export const datedMilestoneRow = { ...milestoneRow, expired: boolean }
export type DatedMilestoneRow = RowOf<typeof datedMilestoneRow>

const pathOf = (alias: string): string =>
  `coalesce((select p.full_path from projects p where p.id = ${alias}.project_id), (select n.full_path from namespaces n where n.id = ${alias}.namespace_id))`

const time = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The milestone `alias` as one JSON value: a `MilestoneRow`, null where there is none. */
export const milestoneJson = (alias: string): Sql =>
  raw(`case when ${alias}.id is not null then json_build_object('id', ${alias}.id, 'iid', ${alias}.iid,
    'project_id', ${alias}.project_id, 'namespace_id', ${alias}.namespace_id, 'full_path', ${pathOf(alias)},
    'title', ${alias}.title, 'description', ${alias}.description, 'state', ${alias}.state, 'start_date', ${alias}.start_date,
    'due_date', ${alias}.due_date, 'created_at', ${time(`${alias}.created_at`)}, 'updated_at', ${time(`${alias}.updated_at`)}) end`)

const columns =
  raw(`ms.id, ms.iid, ms.project_id, ms.namespace_id, ${pathOf('ms')} as full_path, ms.title, ms.description, ms.state,
  ms.start_date, ms.due_date, ms.created_at, ms.updated_at, coalesce(ms.due_date < current_date, false) as expired`)

export type MilestoneFilters = {
  readonly iids?: readonly number[] | undefined
  readonly state: (typeof milestoneStates)[number] | 'all'
  readonly title?: string | undefined
  readonly search?: string | undefined
  /** Include those of the groups above. */
  readonly ancestors: boolean
}

/** Newest first. */
export const milestonesOf = (
  holder: ProjectOrGroupHolder,
  caller: Caller,
  { iids, state, title, search, ancestors }: MilestoneFilters,
): List => ({
  type: 'Milestone',
  cached: true,
  select: sql`select ${columns} from milestones ms`,
  from: raw('from milestones ms'),
  where: [
    ancestors ? around('ms', holder, caller) : heldBy('ms', holder),
    ...(iids ? [sql`ms.iid = any(${iids}::integer[])`] : []),
    ...(state === 'all' ? [] : [sql`ms.state = ${state}`]),
    ...(title === undefined ? [] : [sql`ms.title = ${title}`]),
    ...(search?.trim() ? [fuzzy(search, ['ms.title', 'ms.description'])] : []),
  ],
  order: [{ by: raw('ms.id'), direction: 'desc' }],
  keyset: { direction: 'desc' },
})

/**
 * Milestones with these words that the caller may read, newest first. `inside` is a condition on the project `p` or the group `g` of
 * the milestone.
 */
export const milestonesWith = (caller: Caller, search: string, inside: Sql): List => ({
  type: 'Milestone',
  cached: true,
  select: sql`select ${columns} from milestones ms`,
  from: raw(
    'from milestones ms left join projects p on p.id = ms.project_id left join namespaces g on g.id = ms.namespace_id',
  ),
  key: raw('ms.id'),
  where: [
    fuzzy(search, ['ms.title', 'ms.description']),
    inside,
    sql`((not p.deleting and ${visibleProjects(caller)}) or (not g.deleting and ${visibleGroups(caller)}))`,
  ],
  order: [{ by: raw('ms.id'), direction: 'desc' }],
})

/** One of its own milestones. */
export const findMilestone = (
  db: Db,
  holder: ProjectOrGroupHolder,
  id: number,
): Promise<DatedMilestoneRow | undefined> =>
  db.row(datedMilestoneRow, sql`select ${columns} from milestones ms where ms.id = ${id} and ${heldBy('ms', holder)}`)

/**
 * The id of a milestone that a project may use, locked as by issues that get it (`set_milestone_due`); undefined for others. Call it before
 * the issue is locked: a change of its due date locks the milestone before its issues.
 */
export const lockUsableMilestone = async (
  db: Tx,
  projectId: number,
  milestoneId: number,
): Promise<number | undefined> =>
  (
    await db.row(
      { id: integer },
      sql`
        select ms.id
        from milestones ms
        where ms.id = ${milestoneId} and ${reaching('ms', sql`${projectId}`)}
        for share of ms
      `,
    )
  )?.id

/** The id of a milestone with this title that a project may use: its own, else that of the nearest group. */
export const findMilestoneByTitle = async (db: Db, projectId: number, title: string): Promise<number | undefined> =>
  (
    await db.row(
      { id: integer },
      sql`
        select ms.id
        from milestones ms left join namespaces g on g.id = ms.namespace_id
        where ms.title = ${title} and ${reaching('ms', sql`${projectId}`)}
        order by ms.project_id is not null desc, cardinality(g.traversal_ids) desc, ms.id desc
        limit 1
      `,
    )
  )?.id

export const milestoneTitle = async (tx: Tx, id: number): Promise<string> =>
  (await tx.row({ title: text }, sql`select title from milestones where id = ${id}`))!.title
