import type { Actor } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import type { Db } from '../../../db/db.ts'
import { integer, json, notNull, nullable, oneOf, type RowOf, text, textOf, timestamp } from '../../../db/row.ts'
import { and, join, raw, type Sql, sql, wireTime } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import {
  aboutColumns,
  columnOf,
  groupTypes,
  isAboutKind,
  isTodoType,
  readableAbout,
  type TodoAction,
  type TodoType,
  tableOf,
  todoActions,
  todoTypes,
} from '../../discussion/index.ts'
import { locatedRow, visibleProjects } from '../../projects/index.ts'

export const todoRow = {
  id: integer,
  noteable_type: notNull(textOf<TodoType>()),
  noteable_id: notNull(integer),
  action: oneOf<TodoAction>(...todoActions),
  state: oneOf('pending', 'done'),
  created_at: timestamp,
  updated_at: timestamp,
  /** The user who caused it. */
  author: json<UserReferenceRow>(),
  /** Of an issue, merge request or commit. */
  project: nullable(
    json<{
      readonly id: number
      readonly description: string | null
      readonly name: string
      readonly name_with_namespace: string
      readonly path: string
      readonly path_with_namespace: string
      readonly created_at: Timestamp
    }>(),
  ),
  /** Of an epic. */
  group: nullable(
    json<{
      readonly id: number
      readonly name: string
      readonly path: string
      readonly full_path: string
      readonly parent_id: number | null
      readonly avatar: string | null
    }>(),
  ),
  /** Text of the note, if a note caused it. */
  note: nullable(json<{ readonly id: number; readonly body: string }>()),
}
export type TodoRow = RowOf<typeof todoRow>

const joins =
  raw(`from todos t left join projects p on p.id = t.project_id left join namespaces s on s.id = p.namespace_id
  join users u on u.id = t.author_id left join notes n on n.id = t.note_id`)

/** The id of the group of a target that has one. */
const groupId = sql`
  coalesce(
    ${join(
      groupTypes.map((type) => sql`(select m.namespace_id from ${tableOf(type)} m where m.id = t.${columnOf(type)})`),
      ', ',
    )}
  )
`

const columns = sql`
  t.id, ${aboutColumns('t', todoTypes)}, t.action, t.state, t.created_at, t.updated_at,
  ${userReferenceJson('u')} as author,
  case
    when p.id is not null then json_build_object(
      'id', p.id, 'description', p.description, 'name', p.name, 'name_with_namespace', s.full_name || ' / ' || p.name,
      'path', p.path, 'path_with_namespace', p.full_path, 'created_at', ${wireTime(raw('p.created_at'))}
    )
  end as project,
  case
    when p.id is null then (
      select json_build_object(
        'id', g.id, 'name', g.name, 'path', g.path, 'full_path', g.full_path, 'parent_id', g.parent_id, 'avatar',
        g.avatar
      )
      from namespaces g
      where g.id = ${groupId}
    )
  end as "group",
  case when n.id is not null then json_build_object('id', n.id, 'body', n.body) end as note
`

/** Todos of the caller about objects that they can currently read. */
const own = (caller: Actor): Sql[] => [
  sql`t.user_id = ${caller.id}`,
  sql`(t.project_id is null or (not p.deleting and ${visibleProjects(caller)}))`,
  readableAbout('t', caller, todoTypes),
]

export type TodoFilters = {
  readonly state: 'pending' | 'done'
  readonly type?: string
  readonly action?: TodoAction
  readonly author_id?: number
  readonly project_id?: number
  /** Of this group and its subgroups. */
  readonly group_id?: number
}

/** Newest first. */
export function todosOf(caller: Actor, { state, type, action, author_id, project_id, group_id }: TodoFilters): List {
  const where = [...own(caller), sql`t.state = ${state}`]
  if (type !== undefined) where.push(isTodoType(type) ? isAboutKind('t', type) : raw('false'))
  if (action !== undefined) where.push(sql`t.action = ${action}`)
  if (author_id !== undefined) where.push(sql`t.author_id = ${author_id}`)
  if (project_id !== undefined) where.push(sql`t.project_id = ${project_id}`)
  if (group_id !== undefined)
    where.push(
      sql`
        exists (
          select
          from namespaces g
          where g.id = coalesce(p.namespace_id, ${groupId}) and ${group_id} = any(g.traversal_ids)
        )
      `,
    )
  return {
    type: 'Todo',
    select: sql`select ${columns} ${joins}`,
    from: raw('from todos t left join projects p on p.id = t.project_id'),
    key: raw('t.id'),
    where,
    order: [{ by: raw('t.id'), direction: 'desc' }],
    keyset: { direction: 'desc' },
  }
}

/** One todo of the caller, under the same condition. */
export const findTodo = (db: Db, caller: Actor, id: number): Promise<TodoRow | undefined> =>
  db.row(todoRow, sql`select ${columns} ${joins} where t.id = ${id} and ${and(own(caller))}`)

/** A commit that todos are about, with its project. */
export const todoCommitRow = {
  commit_id: integer,
  oid: textOf<Oid>(),
  title: text,
  full_path: text,
  ...locatedRow,
}
export type TodoCommitRow = RowOf<typeof todoCommitRow>

export const findTodoCommits = (db: Db, ids: readonly number[]): Promise<TodoCommitRow[]> =>
  db.rows(
    todoCommitRow,
    sql`
      select m.id as commit_id, m.oid, m.title, p.full_path, p.id, p.repository_storage, p.repository_key
      from ${tableOf('Commit')} m join projects p on p.id = m.project_id
      where m.id = any(${ids}::bigint[])
    `,
  )
