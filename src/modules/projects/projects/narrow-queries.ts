import type { Matching } from '../../../api/list.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'

/** Filters of a list of projects that may leave few of all projects, wherever these are in its order. */
export type NarrowFilters = {
  order_by: string
  search?: string
  topic?: readonly string[]
  last_activity_after?: Date
  last_activity_before?: Date
  updated_after?: Date
  updated_before?: Date
}

/** A condition on `p`, and a table of that alias with an index that answers it. */
export type Narrowing = Pick<Matching, 'table' | 'condition'>

/** Those that are requested; first the one that usually leaves the fewest projects. */
export function narrowings(filters: NarrowFilters): Narrowing[] {
  const { order_by, search, topic } = filters
  const projects = raw('projects p')
  const found: Narrowing[] = []
  if (search?.trim()) found.push({ table: projects, condition: fuzzy(search, ['p.path', 'p.name', 'p.description']) })
  if (topic?.length) found.push({ table: projects, condition: withTopics(topic) })
  // In an order by the same time, its index leads to them without a question before.
  if (order_by !== 'last_activity_at')
    found.push(...activity(filters).map((condition) => ({ table: raw('project_activity p'), condition })))
  if (order_by !== 'updated_at') found.push(...updates(filters).map((condition) => ({ table: projects, condition })))
  return found
}

/** Conditions on times by which the list is ordered. */
export const rangesOfOrder = (filters: NarrowFilters): Sql[] => {
  if (filters.order_by === 'last_activity_at') return activity(filters)
  return filters.order_by === 'updated_at' ? updates(filters) : []
}

/** All of the topics, in any case. */
const withTopics = (topics: readonly string[]): Sql =>
  sql`(p.topics <> '{}' and topic_keys(p.topics) @> topic_keys(${topics}::text[]))`

const activity = ({ last_activity_after, last_activity_before }: NarrowFilters): Sql[] =>
  between(raw('p.last_activity_at'), last_activity_after, last_activity_before)

const updates = ({ updated_after, updated_before }: NarrowFilters): Sql[] =>
  between(raw('p.updated_at'), updated_after, updated_before)

/** One condition, if there is any: a range with two ends is narrower than each of them. */
const between = (column: Sql, after: Date | undefined, before: Date | undefined): Sql[] => {
  if (after && before) return [sql`${column} between ${after} and ${before}`]
  if (after) return [sql`${column} >= ${after}`]
  return before ? [sql`${column} <= ${before}`] : []
}
