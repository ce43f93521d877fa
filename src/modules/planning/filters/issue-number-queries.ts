import type { Caller } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import { and, join, raw, type Sql, sql } from '../../../db/sql.ts'
import { memberAtLeast } from '../../projects/index.ts'
import { ownConfidential } from './own-confidential-queries.ts'

type Counted = {
  readonly caller: Caller
  /** Which projects `p`; implies that the caller may read issues of each that are not confidential. */
  readonly projects: Sql
  /** Of these projects only the confidential issues count. */
  readonly hiddenOnly: Sql | undefined
  /** Undefined: in any state. */
  readonly state: string | undefined
}

/** The columns of `issue_counts` by state: how many issues there are, and how many of them are confidential. */
const columns = [
  { state: 'opened', all: 'c.opened', confidential: 'c.confidential' },
  { state: 'closed', all: 'c.closed', confidential: 'c.closed_confidential' },
] as const

/**
 * How many issues of these projects the caller may read: an expression, exact in its snapshot. It adds up a row of each project, and reads
 * only the confidential issues that the caller wrote or is assigned to. Twin of `readableRow`.
 */
export function issuesIn({ caller, projects, hiddenOnly, state }: Counted): Sql {
  const chosen = columns.filter((each) => state === undefined || each.state === state)
  const sum = (column: 'all' | 'confidential'): Sql => raw(`(${chosen.map((each) => each[column]).join(' + ')})`)
  const confidential = sum('confidential')
  const shown = sql`${sum('all')} - ${confidential}`
  const seesHidden = caller?.admin ? raw('true') : caller && memberAtLeast(caller, levels.reporter)
  const terms = [
    hiddenOnly ? sql`case when ${hiddenOnly} then 0 else ${shown} end` : shown,
    ...(seesHidden ? [sql`case when ${seesHidden} then ${confidential} else 0 end`] : []),
  ]
  const added = sql`
    coalesce(
      (select sum(${join(terms, ' + ')}) from projects p join issue_counts c on c.project_id = p.id where ${projects}),
      0
    )::bigint
  `
  if (caller === null || caller.admin) return added
  const own = and([
    sql`m.id = any(array(${ownConfidential('Issue', caller)}))`,
    ...(state === undefined ? [] : [sql`m.state = ${state}`]),
    projects,
    sql`not ${seesHidden!}`,
  ])
  return sql`(${added} + (select count(*) from issues m join projects p on p.id = m.project_id where ${own}))`
}
