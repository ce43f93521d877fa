import { join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { columnOf, labelsTableOf, type PlannedType } from '../../discussion/index.ts'

/** Labels of which the rarest is looked for; the others are filters only. */
const comparedLabels = 5

/** Noteables with a label from which on it is common. */
const many = 250

/** Which noteables have all of some labels: found by the rarest of them, unless all are common. */
export type Labelled = {
  /** A common table expression, `name as …`, to which the others refer. */
  readonly given: Sql
  /** Whether each label is common. Has no columns. */
  readonly common: Sql
  /** Rows of the ids of noteables; among them are all that have all of the labels. */
  readonly ids: Sql
}

/** Noteables of this kind that have a label of each of these titles. */
export function labelledBy(type: PlannedType, titles: readonly string[]): Labelled {
  const [table, column] = [labelsTableOf(type), columnOf(type)]
  const compared = titles.slice(0, comparedLabels)
  const having = (title: Sql): Sql => sql`
    select ml.${column} from labels l join ${table} ml on ml.label_id = l.id where lower(l.title) = lower(${title})
  `
  const rarest = (what: string) => raw(`(select ${what} from rarest_label)`)
  const common = sql`${rarest('found')} >= ${literal(many)}`
  return {
    given: sql`
      rarest_label as materialized (
        select t.title, c.found
        from unnest(${compared}::text[]) as t (title)
          cross join lateral (
            select count(*) as found from (${having(raw('t.title'))} limit ${literal(many)}) as first_ones
          ) as c
        order by c.found
        limit 1
      )
    `,
    common,
    ids: sql`
      select ${column}
      from (${having(rarest('title'))}) as of_rarest
      where not ${common}
      union all
      select ${column}
      from (${join(
        compared.map((title) => having(sql`${title}`)),
        ' intersect ',
      )}) as of_all
      where ${common}
    `,
  }
}
