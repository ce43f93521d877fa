import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql, wireTime } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { around, heldBy, holderIds, type ProjectOrGroupHolder } from '../../groups/index.ts'
import { type LabelReferenceRow, labelJson } from '../labels/queries.ts'
import { type MilestoneRow, milestoneJson } from '../milestones/queries.ts'
import { type ListRow, listsSql } from './list-queries.ts'

export type BoardProjectRow = {
  readonly id: number
  readonly description: string | null
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly created_at: Timestamp
  readonly namespace_full_name: string
}

/** A board of a project or group, with its lists. */
export const boardRow = {
  id: integer,
  name: text,
  /** One of the two is null. */
  project: nullable(json<BoardProjectRow>()),
  group: nullable(json<{ readonly id: number; readonly name: string; readonly full_path: string }>()),
  assignee: nullable(json<UserReferenceRow>()),
  milestone: nullable(json<MilestoneRow>()),
  weight: nullable(integer),
  labels: json<LabelReferenceRow[]>(),
  lists: json<ListRow[]>(),
  hide_backlog_list: boolean,
  hide_closed_list: boolean,
  updated_at: timestamp,
}
export type BoardRow = RowOf<typeof boardRow>

const select = sql`
  select b.id, b.name,
    (
      select json_build_object(
        'id', p.id, 'description', p.description, 'name', p.name, 'path', p.path, 'full_path', p.full_path,
        'created_at', ${wireTime(raw('p.created_at'))}, 'namespace_full_name', n.full_name
      )
      from projects p join namespaces n on n.id = p.namespace_id
      where p.id = b.project_id
    ) as project,
    (
      select json_build_object('id', n.id, 'name', n.name, 'full_path', n.full_path)
      from namespaces n
      where n.id = b.namespace_id
    ) as "group",
    (
      select ${userReferenceJson('u')}
      from board_assignees ba join users u on u.id = ba.user_id
      where ba.board_id = b.id
    ) as assignee,
    ${milestoneJson('ms')} as milestone, b.weight,
    (
      select coalesce(json_agg(${labelJson('l')} order by l.title, l.id), '[]')
      from board_labels bl join labels l on l.id = bl.label_id
      where bl.board_id = b.id
    ) as labels,
    (select coalesce(json_agg(list order by list.position), '[]') from (${listsSql(raw('b.id'))}) as list) as lists,
    b.hide_backlog_list, b.hide_closed_list, b.updated_at
  from boards b left join milestones ms on ms.id = b.milestone_id
`

/** Boards of a project or group, oldest first. */
export const boardsOf = (holder: ProjectOrGroupHolder): List => ({
  type: 'Board',
  cached: true,
  select,
  from: raw('from boards b'),
  key: raw('b.id'),
  where: [heldBy('b', holder)],
  order: [{ by: raw('b.id'), direction: 'asc' }],
})

export const findBoard = (db: Db, holder: ProjectOrGroupHolder, id: number): Promise<BoardRow | undefined> =>
  db.row(boardRow, sql`${select} where b.id = ${id} and ${heldBy('b', holder)}`)

export const hasBoard = (db: Db, holder: ProjectOrGroupHolder): Promise<boolean> =>
  db.exists(sql`select from boards b where ${heldBy('b', holder)} limit 1`)

/** What an edit of a board changes. */
const boardValuesRow = {
  name: text,
  assignee_id: nullable(integer),
  milestone_id: nullable(integer),
  weight: nullable(integer),
  hide_backlog_list: boolean,
  hide_closed_list: boolean,
}
export type BoardValues = RowOf<typeof boardValuesRow>

/** Locks a board, and so its lists, until the transaction ends. */
export const lockBoard = (tx: Tx, holder: ProjectOrGroupHolder, id: number): Promise<BoardValues | undefined> =>
  tx.row(
    boardValuesRow,
    sql`
      select b.name, (select ba.user_id from board_assignees ba where ba.board_id = b.id) as assignee_id,
        b.milestone_id, b.weight, b.hide_backlog_list, b.hide_closed_list
      from boards b
      where b.id = ${id} and ${heldBy('b', holder)}
      for no key update
    `,
  )

export const insertBoard = async (tx: Tx, holder: ProjectOrGroupHolder, name: string): Promise<number> => {
  const { projectId, namespaceId } = holderIds(holder)
  return (await tx.row(
    { id: integer },
    sql`
      insert into boards (project_id, namespace_id, name) values (${projectId}, ${namespaceId}, ${name}) returning id
    `,
  ))!.id
}

export async function updateBoard(tx: Tx, id: number, values: BoardValues): Promise<void> {
  await tx.run(sql`
    update boards
    set name = ${values.name}, milestone_id = ${values.milestone_id}, weight = ${values.weight},
      hide_backlog_list = ${values.hide_backlog_list}, hide_closed_list = ${values.hide_closed_list}, updated_at = now()
    where id = ${id}
  `)
  await tx.run(
    values.assignee_id === null
      ? sql`delete from board_assignees where board_id = ${id}`
      : sql`
        insert into board_assignees (board_id, user_id)
        values (${id}, ${values.assignee_id})
        on conflict (board_id) do update set user_id = excluded.user_id
      `,
  )
}

/** Makes these the labels of a board. */
export const replaceBoardLabels = (tx: Tx, boardId: number, labelIds: readonly number[]): Promise<number> =>
  tx.run(sql`
    with gone as (delete from board_labels where board_id = ${boardId} and label_id <> all(${labelIds}::bigint[]))
    insert into board_labels (board_id, label_id)
    select ${boardId}, id
    from unnest(${labelIds}::bigint[]) as id
    on conflict do nothing
  `)

export const deleteBoard = (tx: Tx, id: number): Promise<number> => tx.run(sql`delete from boards where id = ${id}`)

/** Ids of the labels with these titles in a project or group and in the groups above. If several have one title: the nearest. */
export const labelsTitled = async (
  db: Db,
  holder: ProjectOrGroupHolder,
  caller: Caller,
  titles: readonly string[],
): Promise<number[]> => {
  const rows = await db.rows(
    { id: integer },
    sql`
      select distinct on (l.title) l.id
      from labels l left join namespaces g on g.id = l.namespace_id
      where l.title = any(${titles}::text[]) and ${around('l', holder, caller)}
      order by l.title, l.project_id is not null desc, cardinality(g.traversal_ids) desc
    `,
  )
  return rows.map(({ id }) => id)
}

/** Whether a project or group may use a label: its own, or that of a group above it. */
export const mayUseLabel = (db: Db, holder: ProjectOrGroupHolder, caller: Caller, id: number): Promise<boolean> =>
  db.exists(sql`select from labels l where l.id = ${id} and ${around('l', holder, caller)}`)

/** Whether a project or group may use a milestone: its own, or that of a group above it. */
export const mayUseMilestone = (db: Db, holder: ProjectOrGroupHolder, caller: Caller, id: number): Promise<boolean> =>
  db.exists(sql`select from milestones ms where ms.id = ${id} and ${around('ms', holder, caller)}`)

/** Whether a user can act and is a member of a group. */
export const isActiveMember = (db: Db, groupId: number, userId: number): Promise<boolean> =>
  db.exists(sql`
    select
    from users u join group_access a on a.user_id = u.id and a.group_id = ${groupId} and a.expires_on > current_date
    where u.id = ${userId} and u.kind = 'human' and u.state = 'active'
  `)
