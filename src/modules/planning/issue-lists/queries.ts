import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import { prepared } from '../../../api/matching-queries.ts'
import { countOf, plannedFor } from '../../../api/page-queries.ts'
import type { Db } from '../../../db/db.ts'
import { integer, type RowOf } from '../../../db/row.ts'
import { and, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { readableById } from '../../discussion/index.ts'
import type { MatchingFilters, NoteableFilters, NoteableSet, Presence } from '../filters/filters.ts'
import {
  filtered,
  inOrderOf,
  leavesFew,
  lookedUp,
  type Narrowing,
  narrowedBy,
  narrowing,
  negated,
  notMatching,
  ofState,
} from '../filters/queries.ts'
import { reach, withoutLabels } from '../filters/reach-queries.ts'
import { cachedIssues, holdersOfIssue } from '../issues/record-queries.ts'
import { type IssueState, issueStates } from '../issues/states.ts'
import { type IssueOrder, orderKeys, wayOf } from './order-queries.ts'

/** Filters by due date: without one (`0`), with one, or by the day. */
export const dueFilters = [
  '0',
  'any',
  'today',
  'tomorrow',
  'overdue',
  'week',
  'month',
  'next_month_and_previous_two_weeks',
] as const
type DueFilter = (typeof dueFilters)[number]

type EpicFilter = Presence | { readonly id: number }

type WeightFilter = Presence | { readonly is: number }

export type IssueFilters = NoteableFilters & {
  readonly state?: IssueState
  readonly confidential?: boolean
  readonly due?: DueFilter
  readonly weight?: WeightFilter
  /** Of this epic. */
  readonly epic?: EpicFilter
  /** Issues that match any of these are left out. */
  readonly not?: MatchingFilters & { readonly weight?: WeightFilter; readonly epic?: EpicFilter }
}

const type = 'Issue'

/** The Monday of this week. */
const week = `date_trunc('week', current_date)::date`

/** The first day of this month or of a later one. */
const monthFromNow = (months: number): string =>
  `(date_trunc('month', current_date) + interval '${months} months')::date`

const due: Readonly<Record<DueFilter, Sql>> = {
  '0': raw('m.due_date is null'),
  any: raw('m.due_date is not null'),
  today: raw('m.due_date = current_date'),
  tomorrow: raw('m.due_date = current_date + 1'),
  overdue: raw('m.due_date < current_date'),
  week: raw(`m.due_date >= ${week} and m.due_date < ${week} + 7`),
  month: raw(`m.due_date >= ${monthFromNow(0)} and m.due_date < ${monthFromNow(1)}`),
  next_month_and_previous_two_weeks: raw(`m.due_date >= current_date - 14 and m.due_date < ${monthFromNow(2)}`),
}

const statesOf = ({ state }: IssueFilters): readonly IssueState[] => (state === undefined ? issueStates : [state])

/** The narrowing by one of the filters of issues, or of all noteables. */
function narrowed(filters: IssueFilters): Narrowing | undefined {
  const { due: days, weight, confidential } = filters
  // The indexes of the orders have these.
  const inIndex = (condition: Sql) => narrowedBy(type, [inOrderOf(statesOf(filters)), condition])
  if (days !== undefined && days !== '0') return inIndex(due[days])
  if (typeof weight === 'object') return inIndex(ofWeight(weight))
  return (
    narrowing(type, filters) ??
    (confidential ? narrowedBy(type, [raw('m.confidential'), ...ofState(filters)]) : undefined)
  )
}

function ofWeight(filter: WeightFilter): Sql {
  if (filter === 'None') return raw('m.weight is null')
  return filter === 'Any' ? raw('m.weight is not null') : sql`m.weight = ${filter.is}`
}

/** An epic that the caller may not read is the same as none. */
function ofEpic(filter: EpicFilter, caller: Caller): Sql {
  const link = raw('select from epic_issues ei where ei.issue_id = m.id')
  if (typeof filter === 'object')
    return sql`(exists (${link} and ei.epic_id = ${filter.id}) and ${readableById('Epic', sql`${filter.id}`, caller)})`
  const readable = sql`exists (${link} and ${readableById('Epic', raw('ei.epic_id'), caller)})`
  return filter === 'Any' ? readable : sql`not ${readable}`
}

function conditions(caller: Caller, f: IssueFilters): Sql[] {
  const where = filtered(type, caller, f)
  if (f.confidential !== undefined) where.push(f.confidential ? raw('m.confidential') : raw('not m.confidential'))
  if (f.due !== undefined) where.push(due[f.due])
  if (f.weight !== undefined) where.push(ofWeight(f.weight))
  if (f.epic !== undefined) where.push(ofEpic(f.epic, caller))
  if (f.not) where.push(...notMatching(type, caller, f.not))
  if (f.not?.weight !== undefined) where.push(negated(ofWeight(f.not.weight)))
  if (f.not?.epic !== undefined) where.push(sql`not (${ofEpic(f.not.epic, caller)})`)
  return where
}

function reachOf(caller: Caller, set: NoteableSet, filters: IssueFilters, order?: IssueOrder) {
  const { labels, search, updated, others } = lookedUp(filters)
  const few = leavesFew(filters, set) || (filters.epic !== undefined && filters.epic !== 'None')
  const reached = reach({
    type,
    caller,
    set,
    order: order && wayOf(order),
    filters: conditions(caller, others),
    few,
    indexed: narrowed(filters),
    confidential: filters.confidential === true,
    labels,
    search,
    updated,
    state: filters.state,
  })
  const isSliced = order && wayOf(order) === 'other' && !few
  return { ...reached, slices: isSliced ? statesOf(filters).map((state) => inOrderOf([state])) : reached.slices }
}

/** Issues that the caller may read. */
export const listIssues = (caller: Caller, set: NoteableSet, filters: IssueFilters, order: IssueOrder): List => ({
  type,
  cached: true,
  rowsById: { statementOf: (ids) => cachedIssues(caller, ids), holdersOf: holdersOfIssue },
  ofProject: set.of === 'project' ? set.id : undefined,
  ...reachOf(caller, set, filters, order),
  key: raw('m.id'),
  order: orderKeys(order),
})

/** Statistics count up to this number of open and of closed issues. */
const countedIssues = 100_000

const issueCountsRow = { opened: integer, closed: integer }
export type IssueCounts = RowOf<typeof issueCountsRow>

/** The labels that issues must not all have, if the filters say nothing else. */
function onlyWithoutLabels({ not = {}, ...others }: IssueFilters): readonly string[] | undefined {
  const { labels, ...more } = not
  const isAlone = Object.keys({ ...others, ...more }).length === 0
  return isAlone && Array.isArray(labels) ? labels : undefined
}

/** Open and closed issues that the caller may read, each up to `countedIssues`. One statement. */
export async function countIssues(
  db: Db,
  caller: Caller,
  set: NoteableSet,
  filters: Omit<IssueFilters, 'state'>,
): Promise<IssueCounts> {
  const labels = onlyWithoutLabels(filters)
  const without = labels && bothStates((state) => withoutLabels({ caller, set, state }, labels, countedIssues))
  if (without) return countBoth(db, without, { onePlan: true })
  const reached = (state: IssueState) => reachOf(caller, set, { ...filters, state })
  const [opened, closed] = [await prepared(db, reached('opened')), await prepared(db, reached('closed'))]
  const count = (reach: typeof opened): Sql =>
    sql`least(${countOf(reach, and(reach.where), countedIssues)}, ${literal(countedIssues)})`
  return countBoth(db, { opened: count(opened), closed: count(closed) }, opened)
}

type Counts = { readonly opened: Sql; readonly closed: Sql }

/** What is counted of each state, if there is that for both. */
function bothStates(of: (state: IssueState) => Sql | undefined): Counts | undefined {
  const [opened, closed] = [of('opened'), of('closed')]
  return opened && closed && { opened, closed }
}

async function countBoth(db: Db, { opened, closed }: Counts, how: Parameters<typeof plannedFor>[0]) {
  const counts = sql`select ${opened}::integer as opened, ${closed}::integer as closed`
  return (await db.snapshotCache.row(issueCountsRow, plannedFor(how, counts)))!
}
