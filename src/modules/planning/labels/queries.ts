import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import { countedRows } from '../../../api/page.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { boolean, integer, nullable, optional, type RowOf, text, timestamp } from '../../../db/row.ts'
import { empty, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { passedOn } from '../../../db/table-catalogue.ts'
import {
  columnOf,
  labelsTableOf,
  type PlannedType,
  readableRow,
  type ScheduledType,
  tableOf,
} from '../../discussion/index.ts'
import { around, heldBy, type ProjectOrGroupHolder, projectsIn } from '../../groups/index.ts'
import { openVisibility, visibleProjects } from '../../projects/index.ts'

/** A label as other records contain it. */
export const labelReferenceRow = {
  id: integer,
  name: text,
  color: text,
  description: nullable(text),
}
export type LabelReferenceRow = RowOf<typeof labelReferenceRow>

/** A label as displayed in a project or group. */
export const labelRow = {
  ...labelReferenceRow,
  /** Null for a label of a group. */
  project_id: nullable(integer),
  updated_at: timestamp,
  /** Whether the caller is notified of what gets the label. */
  subscribed: boolean,
  /** The priority of the label in the project; null in a group. */
  priority: nullable(integer),
  /** The numbers that the caller may read, up to `countedRows`; only if requested. */
  open_issues: optional(integer),
  closed_issues: optional(integer),
  open_merge_requests: optional(integer),
}
export type LabelRow = RowOf<typeof labelRow>

/** The label `alias` as one JSON value: `LabelReferenceRow`, with `more` columns. */
export function labelJson(alias: string, ...more: readonly string[]): Sql {
  const others = more.map((column) => `, '${column}', ${alias}.${column}`).join('')
  return raw(
    `json_build_object('id', ${alias}.id, 'name', ${alias}.title, 'color', ${alias}.color, 'description', ${alias}.description${others})`,
  )
}

/** A label of a noteable. */
export type AssignedLabelRow = LabelReferenceRow & {
  /** Null for a label of a project. */
  readonly namespace_id: number | null
}

/** The labels of the noteable of this type and id as one JSON value: `AssignedLabelRow[]`, by title. */
export const labelsJson = (type: PlannedType, id: Sql): Sql => sql`
  (
    select coalesce(json_agg(${labelJson('l', 'namespace_id')} order by l.title, l.id), '[]')
    from ${labelsTableOf(type)} ml join labels l on l.id = ml.label_id
    where ml.${columnOf(type)} = ${id}
  )
`

/** The project or group in which labels are displayed, and the caller. */
export type Place = { readonly holder: ProjectOrGroupHolder; readonly caller: Caller }

const columns = ({ holder, caller }: Place): Sql => sql`
  l.id, l.project_id, l.title as name, l.color, l.description, l.updated_at,
  ${caller ? sql`exists (select from label_subscriptions s where s.label_id = l.id and s.user_id = ${caller.id})` : raw('false')} as subscribed,
  ${
    holder.of === 'project'
      ? sql`(select lp.priority from label_priorities lp where lp.label_id = l.id and lp.project_id = ${holder.id})`
      : raw('null::integer')
  } as priority
`

/** The kinds that labels count, and the names of those of the place. */
const countedKinds = { Issue: raw('issues_of_place'), MergeRequest: raw('merge_requests_of_place') } as const

/** Entries of a label up to which the noteable of each is looked up. */
const fewEntries = 20

/** Noteables of a place from which on their ids are not kept in a hash table; then that of each entry is looked up, too. */
const keptIds = 100_000

/** What the caller may read in a project `p` of the place. */
const readableIn = (caller: Caller, type: ScheduledType): Sql => sql`
  not p.deleting and ${visibleProjects(caller)} and ${readableRow(type, caller)}
`

/**
 * Common table expressions, which are read when a label with more than a few entries is counted: the projects of the place, and ids of its noteables with
 * whether the caller may read them, from an index of each project. With `offset` the planner looks them up one after the other, though it cannot know
 * how many there are.
 */
function countedIds({ holder, caller }: Place): Sql {
  const ids = (type: keyof typeof countedKinds) => sql`
    ${countedKinds[type]} as materialized (
      select m.id, ${readableIn(caller, type)} as readable
      from place_projects
        cross join lateral (select p${raw(passedOn)} from projects p where p.id = place_projects.id offset 0) as p
        cross join lateral (select m${raw(passedOn)} from ${tableOf(type)} m where m.project_id = p.id offset 0) as m
      limit ${literal(keptIds)}
    )
  `
  return sql`
    with place_projects as materialized (select p.id from projects p where ${projectsIn(holder)}),
    ${ids('Issue')}, ${ids('MergeRequest')}
  `
}

/** How many with the label the caller may read. What is open to them needs no look-up, as the place has all that have a label of its own. */
function counted(place: Place, type: keyof typeof countedKinds, state: 'opened' | 'closed'): Sql {
  const { holder, caller } = place
  const [labels, ids] = [labelsTableOf(type), countedKinds[type]]
  const ofLabel = sql`ml.label_id = l.id and ml.noteable_state = ${state}`
  // Who has not signed in may not read issues.
  const isOpen =
    !caller || caller.limits
      ? raw('false')
      : sql`(${heldBy('l', holder)} and ml.noteable_audience >= ${openVisibility(caller)})`
  const upTo = (rows: Sql) => sql`(select count(*) from (select ${rows} limit ${literal(countedRows)}) as labelled)`
  return sql`
    case
      when (
        select count(*) from (select from ${labels} ml where ${ofLabel} limit ${literal(fewEntries)}) as first_ones
      ) = ${literal(fewEntries)}
        and (
          select count(*) from ${ids}
        ) < ${literal(keptIds)} then ${upTo(sql`
        from ${labels} ml
        where ${ofLabel} and (${isOpen} or coalesce(ml.${columnOf(type)} in (select id from ${ids} where readable), false))
      `)}
      else ${upTo(sql`
        from ${labels} ml
          join ${tableOf(type)} m on m.id = ml.${columnOf(type)}
          join projects p on p.id = m.project_id
        where ${ofLabel} and ${projectsIn(holder)} and ${readableIn(caller, type)}
      `)}
    end
  `
}

const countColumns = (place: Place): Sql => sql`
  , ${counted(place, 'Issue', 'opened')} as open_issues, ${counted(place, 'Issue', 'closed')} as closed_issues,
  ${counted(place, 'MergeRequest', 'opened')} as open_merge_requests
`

/** Its own labels, with `ancestors` also those of the groups above. */
const shown = ({ holder, caller }: Place, ancestors: boolean): Sql =>
  ancestors ? around('l', holder, caller) : heldBy('l', holder)

export type LabelFilters = {
  readonly ancestors: boolean
  readonly counts: boolean
  readonly search: string | undefined
}

/** Ordered by title. */
export const labelsOf = (place: Place, { ancestors, counts, search }: LabelFilters): List => ({
  type: 'Label',
  cached: true,
  select: sql`
    ${counts ? countedIds(place) : empty} select ${columns(place)}${counts ? countColumns(place) : empty} from labels l
  `,
  from: raw('from labels l'),
  key: raw('l.id'),
  where: [shown(place, ancestors), ...(search?.trim() ? [fuzzy(search, ['l.title', 'l.description'])] : [])],
  order: [
    { by: raw('l.title'), direction: 'asc' },
    { by: raw('l.id'), direction: 'asc' },
  ],
})

/** A label by its id or title. */
export type LabelName = { readonly id: number } | { readonly title: string }

/** If several have one title, the project's own comes first, then that of the nearest group. */
const named = (name: LabelName): Sql => ('id' in name ? sql`l.id = ${name.id}` : sql`l.title = ${name.title}`)
const nearest = raw(`order by l.project_id is null,
  (select cardinality(n.traversal_ids) from namespaces n where n.id = l.namespace_id) desc limit 1`)

export const findLabel = (
  db: Db,
  place: Place,
  name: LabelName,
  { ancestors }: { ancestors: boolean },
): Promise<LabelRow | undefined> =>
  db.row(
    labelRow,
    sql`select ${columns(place)} from labels l where ${named(name)} and ${shown(place, ancestors)} ${nearest}`,
  )

/** Locks one of the project's or group's own labels until the transaction ends, but not against references to it. */
export const lockOwnLabel = (tx: Tx, place: Place, name: LabelName): Promise<LabelRow | undefined> =>
  tx.row(
    labelRow,
    sql`select ${columns(place)} from labels l where ${named(name)} and ${shown(place, false)} for no key update of l`,
  )
