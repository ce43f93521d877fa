import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, nullable, type RowOf } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { type LabelReferenceRow, labelJson } from '../labels/queries.ts'
import { type MilestoneRow, milestoneJson } from '../milestones/queries.ts'

/** A list of a board. One of label, assignee and milestone is not null. */
export const listRow = {
  id: integer,
  /** From 0, without gaps: the number of lists before it. */
  position: integer,
  label: nullable(json<LabelReferenceRow>()),
  assignee: nullable(json<UserReferenceRow>()),
  milestone: nullable(json<MilestoneRow>()),
  max_issue_count: integer,
  max_issue_weight: integer,
}
export type ListRow = RowOf<typeof listRow>

/** All lists of a board, in no order. */
export const listsSql = (boardId: Sql): Sql => sql`
  select bl.id, (row_number() over (order by bl.position, bl.id) - 1)::integer as position,
    case when l.id is not null then ${labelJson('l')} end as label,
    case when u.id is not null then ${userReferenceJson('u')} end as assignee, ${milestoneJson('ms')} as milestone,
    bl.max_issue_count, bl.max_issue_weight
  from board_lists bl
    left join labels l on l.id = bl.label_id
    left join users u on u.id = bl.assignee_id
    left join milestones ms on ms.id = bl.milestone_id
  where bl.board_id = ${boardId}
`

const listsOf = (boardId: number): Sql => sql`(${listsSql(sql`${boardId}`)}) as list`

/** In their order. */
export const pageOfLists = (boardId: number): List => ({
  type: 'List',
  cached: true,
  select: sql`select list.* from ${listsOf(boardId)}`,
  from: sql`from ${listsOf(boardId)}`,
  where: [],
  order: [{ by: raw('list.position'), direction: 'asc' }],
})

export const findList = (db: Db, boardId: number, id: number): Promise<ListRow | undefined> =>
  db.row(listRow, sql`select list.* from ${listsOf(boardId)} where list.id = ${id}`)

/** Ids of the lists of a board in their order. */
export const listIds = async (tx: Tx, boardId: number): Promise<number[]> => {
  const rows = await tx.rows(
    { id: integer },
    sql`select id from board_lists where board_id = ${boardId} order by position, id`,
  )
  return rows.map(({ id }) => id)
}

/** What the issues of a list have. Exactly one is not null. */
export type Criterion = {
  readonly label_id: number | null
  readonly assignee_id: number | null
  readonly milestone_id: number | null
}

export type Maxima = { readonly max_issue_count?: number | undefined; readonly max_issue_weight?: number | undefined }

/** Adds a list after the others and returns its id; undefined if the board has one of the same criterion. The board is locked. */
export const insertList = async (
  tx: Tx,
  boardId: number,
  { label_id, assignee_id, milestone_id }: Criterion,
  { max_issue_count = 0, max_issue_weight = 0 }: Maxima,
): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
        insert into board_lists (
          board_id, label_id, assignee_id, milestone_id, max_issue_count, max_issue_weight, position
        )
        select ${boardId}, ${label_id}::bigint, ${assignee_id}::bigint, ${milestone_id}::bigint,
          ${max_issue_count}::integer, ${max_issue_weight}::integer, coalesce(max(position) + 1, 0)
        from board_lists
        where board_id = ${boardId}
        on conflict do nothing
        returning id
      `,
    )
  )?.id

/** Absent maxima stay unchanged. */
export const saveMaxima = (tx: Tx, id: number, { max_issue_count, max_issue_weight }: Maxima): Promise<number> =>
  tx.run(sql`
    update board_lists
    set max_issue_count = coalesce(${max_issue_count ?? null}::integer, max_issue_count),
      max_issue_weight = coalesce(${max_issue_weight ?? null}::integer, max_issue_weight), updated_at = now()
    where id = ${id}
  `)

/** Puts the lists in this order. */
export const saveOrder = (tx: Tx, ids: readonly number[]): Promise<number> =>
  tx.run(sql`
    update board_lists bl
    set position = ordered.position, updated_at = now()
    from unnest(${ids}::bigint[]) with ordinality as ordered (id, position)
    where bl.id = ordered.id and bl.position <> ordered.position
  `)

/** False if it is deleted already. */
export const deleteList = async (tx: Tx, boardId: number, id: number): Promise<boolean> =>
  (await tx.run(sql`delete from board_lists where id = ${id} and board_id = ${boardId}`)) > 0
