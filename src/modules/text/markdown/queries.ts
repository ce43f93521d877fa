import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { boolean, integer, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import {
  isHeld,
  joinHolder,
  type NoteableType,
  numberOf,
  readableRow,
  tableOf,
  visibleHolder,
} from '../../discussion/index.ts'
import { reaching } from '../../groups/index.ts'
import { visibleGroups } from '../../namespaces/index.ts'
import { columns, projectRow, readableCode, visibleProjects } from '../../projects/index.ts'

/** What references name: one statement for each kind, whatever the number of references. */

/** A project with the path by which it was named. */
export const namedProjectRow = { ...projectRow, level: nullable(integer), path_key: text, reads_code: boolean }
export type NamedProjectRow = RowOf<typeof namedProjectRow>

/** The projects with these full paths, in lower case, of those that the caller may see. */
export const findNamedProjects = (
  db: Db,
  caller: Caller,
  paths: readonly string[],
): Promise<readonly NamedProjectRow[]> =>
  db.snapshotCache.rows(
    namedProjectRow,
    sql`
      select ${columns}, null::integer as level, r.path_key, ${readableCode(caller)} as reads_code
      from routes r join projects p on p.id = r.project_id and not p.deleting
      where r.path_key = any(${paths}::text[]) and ${visibleProjects(caller)}
    `,
  )

/** A number, or a title, in a project. */
export type InProject = { readonly projectId: number; readonly number: number | null; readonly title: string | null }

/** Rows of what is named, with the place of the name in the list. */
const named = (names: readonly InProject[]): Sql => sql`
  unnest(
    ${names.map(({ projectId }) => projectId)}::bigint[], ${names.map(({ number }) => number)}::bigint[],
    ${names.map(({ title }) => title)}::text[]
  ) with ordinality as named (project_id, number, title, place)
  join projects p on p.id = named.project_id and not p.deleting
`

const place = raw('named.place::integer - 1 as place')

const noteableRow = { place: integer, id: integer, iid: integer, title: text }
export type NamedNoteableRow = RowOf<typeof noteableRow>

/** Issues, merge requests or snippets by number, of those that the caller may read. */
export const findNamedNoteables = (
  db: Db,
  caller: Caller,
  type: NoteableType,
  names: readonly InProject[],
): Promise<readonly NamedNoteableRow[]> =>
  db.snapshotCache.rows(
    noteableRow,
    sql`
      select ${place}, m.id, ${numberOf(type, 'm')} as iid, m.title
      from ${named(names)} join ${tableOf(type)} m on m.project_id = p.id and ${numberOf(type, 'm')} = named.number
      where ${visibleProjects(caller)} and ${readableRow(type, caller)}
    `,
  )

const epicRow = { ...noteableRow, full_path: text }
export type NamedEpicRow = RowOf<typeof epicRow>

/** Epics by the full path of their group, in lower case, and their number, of those that the caller may read. */
export const findNamedEpics = (
  db: Db,
  caller: Caller,
  names: readonly { readonly path: string; readonly number: number }[],
): Promise<readonly NamedEpicRow[]> =>
  db.snapshotCache.rows(
    epicRow,
    sql`
      select ${place}, m.id, m.iid, m.title, g.full_path
      from unnest(
          ${names.map(({ path }) => path)}::text[], ${names.map(({ number }) => number)}::bigint[]
        ) with ordinality as named (path, number, place)
        join routes r on r.path_key = named.path ${joinHolder('Epic', 'r')}
        join epics m on ${isHeld('Epic')} and m.iid = named.number
      where ${visibleHolder('Epic', caller)} and ${readableRow('Epic', caller)}
    `,
  )

/** If several have one title, the project's own comes first, then that of the nearest group. */
const nearest = (alias: string): Sql =>
  raw(`order by ${alias}.project_id is null,
    (select cardinality(n.traversal_ids) from namespaces n where n.id = ${alias}.namespace_id) desc, ${alias}.id desc limit 1`)

const labelRow = { place: integer, title: text, color: text, description: nullable(text) }
export type NamedLabelRow = RowOf<typeof labelRow>

/** Labels by id or title that apply to projects the caller may see. */
export const findNamedLabels = (
  db: Db,
  caller: Caller,
  names: readonly InProject[],
): Promise<readonly NamedLabelRow[]> =>
  db.snapshotCache.rows(
    labelRow,
    sql`
      select ${place}, l.title, l.color, l.description
      from ${named(names)}
        cross join lateral (
          select l.title, l.color, l.description
          from labels l
          where l.title = named.title and ${reaching('l', raw('named.project_id'))} ${nearest('l')}
        ) l
      where ${visibleProjects(caller)}
      union all
      select ${place}, l.title, l.color, l.description
      from ${named(names)} join labels l on l.id = named.number and ${reaching('l', raw('named.project_id'))}
      where ${visibleProjects(caller)}
    `,
  )

const milestoneRow = { place: integer, iid: integer, title: text, is_of_group: boolean, full_path: text }
export type NamedMilestoneRow = RowOf<typeof milestoneRow>

/** Milestones by number, which is that of the project, or by title, of projects that the caller may see. */
export const findNamedMilestones = (
  db: Db,
  caller: Caller,
  names: readonly InProject[],
): Promise<readonly NamedMilestoneRow[]> =>
  db.snapshotCache.rows(
    milestoneRow,
    sql`
      select ${place}, ms.iid, ms.title, ms.project_id is null as is_of_group,
        coalesce(g.full_path, p.full_path) as full_path
      from ${named(names)}
        cross join lateral (
          select ms.iid, ms.title, ms.project_id, ms.namespace_id
          from milestones ms
          where ms.title = named.title and ${reaching('ms', raw('named.project_id'))} ${nearest('ms')}
        ) ms
        left join namespaces g on g.id = ms.namespace_id
      where ${visibleProjects(caller)}
      union all
      select ${place}, ms.iid, ms.title, false, p.full_path
      from ${named(names)} join milestones ms on ms.project_id = p.id and ms.iid = named.number
      where ${visibleProjects(caller)}
    `,
  )

const accountRow = { kind: oneOf('user', 'group'), key: text, path: text, name: text }
export type NamedAccountRow = RowOf<typeof accountRow>

/** Users, unless they are hidden from the caller, and groups that the caller may see, by names in lower case. */
export const findNamedAccounts = (
  db: Db,
  caller: Caller,
  names: readonly string[],
  { users }: { readonly users: boolean },
): Promise<readonly NamedAccountRow[]> =>
  db.snapshotCache.rows(
    accountRow,
    sql`
      select 'user' as kind, lower(u.username) as key, u.username as path, u.name
      from users u
      where ${users} and lower(u.username) = any(${names}::text[])
      union all
      select 'group', r.path_key, g.full_path, g.name
      from routes r join namespaces g on g.id = r.namespace_id and g.kind = 'group'
      where r.path_key = any(${names}::text[]) and ${visibleGroups(caller)}
    `,
  )
