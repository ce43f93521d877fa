import type { Caller } from '../../../access/actor.ts'
import type { Db, Statement } from '../../../db/db.ts'
import { orNothing } from '../../../db/or-nothing.ts'
import { allNullable, boolean, integer, nullable, oneOf, type RowOf, type Shape, text } from '../../../db/row.ts'
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
import { composedForCaller, visibleGroups } from '../../namespaces/index.ts'
import { locatedRow, readableCode, visibleProjects } from '../../projects/index.ts'

/**
 * What references name: one statement for each kind, whatever the number of references. All are cached, and their results are frozen, so
 * that the identity of a result names all of it (`api/inputs.ts`).
 */

/** Every row has the place of the name in the list. */
const placed = { place: integer }

/** What a statement has found. A single row without a place stands for nothing: a result without rows would not be cached. */
export type Found<Row> = readonly (Row | { readonly place: null })[]

/** The rows that were found, in no order. */
export const rowsOf = <Row extends { readonly place: number }>(found: Found<Row>): Row[] =>
  found.filter((row) => row.place !== null)

/** Reads rows of this shape. */
function finder<S extends Shape>(shape: S) {
  const nullable = allNullable(shape)
  return async (db: Db, statement: Statement): Promise<Found<Readonly<RowOf<S>>>> => {
    const rows: readonly unknown[] = await db.snapshotCache.rows(nullable, statement)
    return rows as Found<Readonly<RowOf<S>>>
  }
}

const placeColumn = raw('named.place::integer - 1 as place')

const namedProjectRow = { ...placed, ...locatedRow, full_path: text, reads_code: boolean }
export type NamedProjectRow = Readonly<RowOf<typeof namedProjectRow>>
const namedProjects = finder(namedProjectRow)

const projectsNamed = composedForCaller((caller, paths: readonly string[]) =>
  orNothing(sql`
    select ${placeColumn}, p.id, p.repository_storage, p.repository_key, p.full_path,
      ${readableCode(caller)} as reads_code
    from unnest(${paths}::text[]) with ordinality as named (path, place)
      join routes r on r.path_key = named.path
      join projects p on p.id = r.project_id and not p.deleting
    where ${visibleProjects(caller)}
  `),
)

/** The projects with these full paths, in lower case, of those that the caller may see. */
export const findNamedProjects = (db: Db, caller: Caller, paths: readonly string[]): Promise<Found<NamedProjectRow>> =>
  namedProjects(db, projectsNamed(caller, paths))

/** Numbers, or titles, in projects: the lists are equally long. */
export type InProjects = {
  readonly projectIds: readonly number[]
  readonly numbers: readonly (number | null)[]
  readonly titles: readonly (string | null)[]
}

type Lists = [projectIds: InProjects['projectIds'], numbers: InProjects['numbers'], titles: InProjects['titles']]
const listsOf = ({ projectIds, numbers, titles }: InProjects): Lists => [projectIds, numbers, titles]

/** Rows of what is named, with the place of the name in the lists. */
const named = (...[projectIds, numbers, titles]: Lists): Sql => sql`
  unnest(${projectIds}::bigint[], ${numbers}::bigint[], ${titles}::text[]) with ordinality as named (
    project_id, number, title, place
  )
  join projects p on p.id = named.project_id and not p.deleting
`

const noteableRow = { ...placed, id: integer, iid: integer, title: text }
export type NamedNoteableRow = Readonly<RowOf<typeof noteableRow>>
const noteables = finder(noteableRow)

/** Finds issues, merge requests or snippets by number, of those that the caller may read. */
export function noteableFinder(type: NoteableType) {
  const statement = composedForCaller((caller, ...lists: Lists) =>
    orNothing(sql`
      select ${placeColumn}, m.id, ${numberOf(type, 'm')} as iid, m.title
      from ${named(...lists)} join ${tableOf(type)} m on m.project_id = p.id and ${numberOf(type, 'm')} = named.number
      where ${visibleProjects(caller)} and ${readableRow(type, caller)}
    `),
  )
  return (db: Db, caller: Caller, names: InProjects): Promise<Found<NamedNoteableRow>> =>
    noteables(db, statement(caller, ...listsOf(names)))
}

const epicRow = { ...noteableRow, full_path: text }
export type NamedEpicRow = Readonly<RowOf<typeof epicRow>>
const epics = finder(epicRow)

const epicsNamed = composedForCaller((caller, paths: readonly string[], numbers: readonly number[]) =>
  orNothing(sql`
    select ${placeColumn}, m.id, m.iid, m.title, g.full_path
    from unnest(${paths}::text[], ${numbers}::bigint[]) with ordinality as named (path, number, place)
      join routes r on r.path_key = named.path ${joinHolder('Epic', 'r')}
      join epics m on ${isHeld('Epic')} and m.iid = named.number
    where ${visibleHolder('Epic', caller)} and ${readableRow('Epic', caller)}
  `),
)

/** Epics by the full path of their group, in lower case, and their number, of those that the caller may read. */
export const findNamedEpics = (
  db: Db,
  caller: Caller,
  { paths, numbers }: { readonly paths: readonly string[]; readonly numbers: readonly number[] },
): Promise<Found<NamedEpicRow>> => epics(db, epicsNamed(caller, paths, numbers))

/** If several have one title, the project's own comes first, then that of the nearest group. */
const nearest = (alias: string): Sql =>
  raw(`order by ${alias}.project_id is null,
    (select cardinality(n.traversal_ids) from namespaces n where n.id = ${alias}.namespace_id) desc, ${alias}.id desc limit 1`)

const labelRow = { ...placed, title: text, color: text, description: nullable(text) }
export type NamedLabelRow = Readonly<RowOf<typeof labelRow>>
const labels = finder(labelRow)

const labelsNamed = composedForCaller((caller, ...lists: Lists) =>
  orNothing(sql`
    select ${placeColumn}, l.title, l.color, l.description
    from ${named(...lists)}
      cross join lateral (
        select l.title, l.color, l.description
        from labels l
        where l.title = named.title and ${reaching('l', raw('named.project_id'))} ${nearest('l')}
      ) l
    where ${visibleProjects(caller)}
    union all
    select ${placeColumn}, l.title, l.color, l.description
    from ${named(...lists)} join labels l on l.id = named.number and ${reaching('l', raw('named.project_id'))}
    where ${visibleProjects(caller)}
  `),
)

/** Labels by id or title that apply to projects the caller may see. */
export const findNamedLabels = (db: Db, caller: Caller, names: InProjects): Promise<Found<NamedLabelRow>> =>
  labels(db, labelsNamed(caller, ...listsOf(names)))

const milestoneRow = { ...placed, iid: integer, title: text, is_of_group: boolean, full_path: text }
export type NamedMilestoneRow = Readonly<RowOf<typeof milestoneRow>>
const milestones = finder(milestoneRow)

const milestonesNamed = composedForCaller((caller, ...lists: Lists) =>
  orNothing(sql`
    select ${placeColumn}, ms.iid, ms.title, ms.project_id is null as is_of_group,
      coalesce(g.full_path, p.full_path) as full_path
    from ${named(...lists)}
      cross join lateral (
        select ms.iid, ms.title, ms.project_id, ms.namespace_id
        from milestones ms
        where ms.title = named.title and ${reaching('ms', raw('named.project_id'))} ${nearest('ms')}
      ) ms
      left join namespaces g on g.id = ms.namespace_id
    where ${visibleProjects(caller)}
    union all
    select ${placeColumn}, ms.iid, ms.title, false, p.full_path
    from ${named(...lists)} join milestones ms on ms.project_id = p.id and ms.iid = named.number
    where ${visibleProjects(caller)}
  `),
)

/** Milestones by number, which is that of the project, or by title, of projects that the caller may see. */
export const findNamedMilestones = (db: Db, caller: Caller, names: InProjects): Promise<Found<NamedMilestoneRow>> =>
  milestones(db, milestonesNamed(caller, ...listsOf(names)))

const accountRow = { ...placed, kind: oneOf('user', 'group'), path: text, name: text }
export type NamedAccountRow = Readonly<RowOf<typeof accountRow>>
const accounts = finder(accountRow)

const accountsNamed = composedForCaller((caller, names: readonly string[], users: boolean) => {
  const list = sql`unnest(${names}::text[]) with ordinality as named (name, place)`
  return orNothing(sql`
    select ${placeColumn}, 'user' as kind, u.username as path, u.name
    from ${list} join users u on lower(u.username) = named.name
    where ${users}
    union all
    select ${placeColumn}, 'group', g.full_path, g.name
    from ${list}
      join routes r on r.path_key = named.name
      join namespaces g on g.id = r.namespace_id and g.kind = 'group'
    where ${visibleGroups(caller)}
  `)
})

/** Users, unless they are hidden from the caller, and groups that the caller may see, by names in lower case. */
export const findNamedAccounts = (
  db: Db,
  caller: Caller,
  names: readonly string[],
  { users }: { readonly users: boolean },
): Promise<Found<NamedAccountRow>> => accounts(db, accountsNamed(caller, names, users))
