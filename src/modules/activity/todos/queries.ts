import type { Actor } from '../../../access/actor.ts'
import type { List } from '../../../api/page.ts'
import type { Db } from '../../../db/db.ts'
import { integer, json, notNull, nullable, oneOf, type RowOf, textOf, timestamp } from '../../../db/row.ts'
import { and, raw, type Sql, sql, wireTime } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import {
  aboutColumns,
  isAboutKind,
  isPlannedType,
  type PlannedType,
  plannedTypes,
  readableAbout,
  type TodoAction,
  todoActions,
} from '../../discussion/index.ts'
import { visibleProjects } from '../../projects/index.ts'

export const todoRow = {
  id: integer,
  noteable_type: notNull(textOf<PlannedType>()),
  noteable_id: notNull(integer),
  action: oneOf<TodoAction>(...todoActions),
  state: oneOf('pending', 'done'),
  created_at: timestamp,
  updated_at: timestamp,
  /** The user who caused it. */
  author: json<UserReferenceRow>(),
  project: json<{
    readonly id: number
    readonly description: string | null
    readonly name: string
    readonly name_with_namespace: string
    readonly path: string
    readonly path_with_namespace: string
    readonly created_at: Timestamp
  }>(),
  /** Text of the note, if a note caused it. */
  note: nullable(json<{ readonly id: number; readonly body: string }>()),
}
export type TodoRow = RowOf<typeof todoRow>

const joins = raw(`from todos t join projects p on p.id = t.project_id join namespaces s on s.id = p.namespace_id
  join users u on u.id = t.author_id left join notes n on n.id = t.note_id`)

const columns = sql`
  t.id, ${aboutColumns('t', plannedTypes)}, t.action, t.state, t.created_at, t.updated_at,
  ${userReferenceJson('u')} as author,
  json_build_object(
    'id', p.id, 'description', p.description, 'name', p.name, 'name_with_namespace', s.full_name || ' / ' || p.name,
    'path', p.path, 'path_with_namespace', p.full_path, 'created_at', ${wireTime(raw('p.created_at'))}
  ) as project,
  case when n.id is not null then json_build_object('id', n.id, 'body', n.body) end as note
`

/** Todos of the caller about objects that they can currently read. */
const own = (caller: Actor): Sql[] => [
  sql`t.user_id = ${caller.id}`,
  raw('not p.deleting'),
  visibleProjects(caller),
  readableAbout('t', caller, plannedTypes),
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
  if (type !== undefined) where.push(isPlannedType(type) ? isAboutKind('t', type) : raw('false'))
  if (action !== undefined) where.push(sql`t.action = ${action}`)
  if (author_id !== undefined) where.push(sql`t.author_id = ${author_id}`)
  if (project_id !== undefined) where.push(sql`t.project_id = ${project_id}`)
  if (group_id !== undefined)
    where.push(
      sql`exists (select from namespaces g where g.id = p.namespace_id and ${group_id} = any(g.traversal_ids))`,
    )
  return {
    type: 'Todo',
    select: sql`select ${columns} ${joins}`,
    from: raw('from todos t join projects p on p.id = t.project_id'),
    key: raw('t.id'),
    where,
    order: [{ by: raw('t.id'), direction: 'desc' }],
    keyset: { direction: 'desc' },
  }
}

/** One todo of the caller, under the same condition. */
export const findTodo = (db: Db, caller: Actor, id: number): Promise<TodoRow | undefined> =>
  db.row(todoRow, sql`select ${columns} ${joins} where t.id = ${id} and ${and(own(caller))}`)
