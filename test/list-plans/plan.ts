export type Plan = {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  /** `SubPlan` if a row of the parent may run it. */
  readonly 'Parent Relationship'?: string
  /** Absent for scans of what other nodes of the plan have read. */
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  /** With the option `buffers`. */
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly Plan[]
}

/** How many rows the scans of a plan read, including the rows that they discard. */
export function readsOf(plan: Plan): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = plan
  const own = plan['Relation Name'] ? (plan['Actual Rows'] + filtered + rechecked) * plan['Actual Loops'] : 0
  return own + (plan.Plans ?? []).reduce((sum, child) => sum + readsOf(child), 0)
}

export const pagesOf = (plan: Plan): number => plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!

/** How the indexes are read whose names begin like this, of which the parts of a plan are that run. */
export const scansOf = (plan: Plan, index: string): string[] => [
  ...(plan['Index Name']?.startsWith(index) && plan['Actual Loops'] > 0 ? [plan['Node Type']] : []),
  ...(plan.Plans ?? []).flatMap((child) => scansOf(child, index)),
]

/** How a plan reads a table where it reads more than a thousand rows of it. */
export const largeReads = (plan: Plan, table: string): string[] => [
  ...(plan['Relation Name'] === table && readsOf({ ...plan, Plans: [] }) > 1_000 ? [plan['Node Type']] : []),
  ...(plan.Plans ?? []).flatMap((child) => largeReads(child, table)),
]

/** The tables that a plan reads as a whole. */
export const wholeReads = (plan: Plan): string[] => [
  ...(plan['Node Type'] === 'Seq Scan' && plan['Actual Loops'] > 0 ? [plan['Relation Name']!] : []),
  ...(plan.Plans ?? []).flatMap(wholeReads),
]

/** How often that subquery of the columns runs which runs most often. */
export const runsOfSubqueries = (plan: Plan): number =>
  Math.max(
    plan['Parent Relationship'] === 'SubPlan' ? plan['Actual Loops'] : 0,
    ...(plan.Plans ?? []).map(runsOfSubqueries),
  )

/** The tables that a plan reads, as often as it does. */
export const tableNamesOf = (plan: Plan): string[] => [
  ...(plan['Relation Name'] ? [plan['Relation Name']] : []),
  ...(plan.Plans ?? []).flatMap(tableNamesOf),
]
