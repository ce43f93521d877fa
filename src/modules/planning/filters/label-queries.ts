import { and, join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { columnOf, labelsTableOf, type ScheduledType } from '../../discussion/index.ts'

/** Labels of which the rarest is looked for; the others are filters only. */
const comparedLabels = 5

/** Noteables with a label from which on it is common; fewer are read and sorted in some milliseconds. */
const many = 500

/** Rows of one label that are read to count noteables: four times what statistics count, as several labels may share a title. */
const countedLabels = 400_000

/** Which noteables are looked for by their labels. */
export type LabelSearch = {
  /** Titles, all of which they have. */
  readonly titles: readonly string[]
  /** Undefined for any. */
  readonly state: string | undefined
  /** A condition on an audience; undefined for all. */
  readonly audience?: (audience: Sql) => Sql
}

/** Noteables that have all of some labels, of which the rarest decides how they are read. */
export type Labelled = {
  /** A common table expression, `name as …`, to which the others refer. */
  readonly given: Sql
  /** Whether each of the labels is common. Has no columns. */
  readonly common: Sql
  /** Rows of ids: none if all are common, else all that have the rarest, and maybe not the others. */
  readonly few: Sql
  /** Rows of ids: all that have the labels, if each is common, else none. */
  readonly many: Sql
}

/** Ids of noteables that have the label of this title, a column or value. Reads an entry of an index for each. */
function having(type: ScheduledType, title: Sql, { state, audience }: LabelSearch): Sql {
  const where = [
    sql`lower(l.title) = lower(${title})`,
    ...(state === undefined ? [] : [sql`ml.noteable_state = ${state}`]),
    ...(audience ? [audience(raw('ml.noteable_audience'))] : []),
  ]
  return sql`
    select ml.${columnOf(type)} from labels l join ${labelsTableOf(type)} ml on ml.label_id = l.id where ${and(where)}
  `
}

const havingAll = (type: ScheduledType, titles: readonly string[], search: LabelSearch): Sql =>
  join(
    titles.map((title) => having(type, sql`${title}`, search)),
    ' intersect ',
  )

/**
 * Ids of the noteables that have all of the labels; each once, though labels of a project and its groups may share a title. Of one label
 * up to `countedLabels`.
 */
export function labelledOnce(type: ScheduledType, search: LabelSearch): Sql {
  const rows = havingAll(type, search.titles, search)
  const limit = raw(search.titles.length > 1 ? '' : `limit ${countedLabels}`)
  return sql`select distinct ${columnOf(type)} from (${rows} ${limit}) as labelled`
}

/** How to find the noteables that have all of the labels. Two searches of a statement have different names. */
export function labelledBy(type: ScheduledType, search: LabelSearch, name = 'rarest_label'): Labelled {
  const compared = search.titles.slice(0, comparedLabels)
  const rarest = (what: string) => raw(`(select ${what} from ${name})`)
  const common = sql`${rarest('found')} >= ${literal(many)}`
  return {
    given: sql`
      ${raw(name)} as materialized (
        select t.title, c.found
        from unnest(${compared}::text[]) as t (title)
          cross join lateral (
            select count(*) as found from (${having(type, raw('t.title'), search)} limit ${literal(many)}) as first_ones
          ) as c
        order by c.found
        limit 1
      )
    `,
    common,
    few: sql`select ${columnOf(type)} from (${having(type, rarest('title'), search)}) as of_rarest where not ${common}`,
    many: sql`select ${columnOf(type)} from (${havingAll(type, compared, search)}) as of_all where ${common}`,
  }
}
