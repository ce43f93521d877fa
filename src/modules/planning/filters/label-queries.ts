import { byKey, type Db } from '../../../db/db.ts'
import { integer, nullable, text } from '../../../db/row.ts'
import { and, join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { columnOf, labelsTableOf, type ScheduledType } from '../../discussion/index.ts'
import { reaching } from '../../groups/index.ts'
import { looksUpLabels, namesApart } from './queries.ts'

/** Labels of which the rarest is looked for; the others are filters only. */
const comparedLabels = namesApart

/** A label is common if it has as many noteables as this; fewer are read and sorted in some milliseconds. */
export const many = 1000

/** Noteables with a label up to which these are kept in a hash table; of more, some are among each few dozen. */
export const veryMany = 20_000

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
  /** Only labels that noteables of this project may have. */
  readonly projectId?: number
}

/** Ids of noteables that have the label of this title, a column or value. Reads an entry of an index for each. */
function having(type: ScheduledType, title: Sql, { state, audience, projectId }: LabelSearch): Sql {
  const where = [
    sql`lower(l.title) = lower(${title})`,
    ...(projectId === undefined ? [] : [reaching('l', sql`${projectId}`)]),
    ...(state === undefined ? [] : [sql`ml.noteable_state = ${state}`]),
    ...(audience ? [audience(raw('ml.noteable_audience'))] : []),
  ]
  return sql`
    select ml.${columnOf(type)} as id
    from labels l join ${labelsTableOf(type)} ml on ml.label_id = l.id
    where ${and(where)}
  `
}

/** Ids of the noteables that have all of the compared labels. */
const havingAll = (type: ScheduledType, search: LabelSearch): Sql =>
  join(
    search.titles.slice(0, comparedLabels).map((title) => having(type, sql`${title}`, search)),
    ' intersect ',
  )

/** The noteable `m` has those of the labels that are not compared. */
function hasOthers(type: ScheduledType, { titles }: LabelSearch): Sql {
  const others = titles.slice(comparedLabels)
  return others.length > 0 ? looksUpLabels(type, others) : raw('true')
}

/**
 * The noteables `m` that have all of the labels, to be counted; each once, though labels of a project and its groups may share a title. Of
 * one label up to `countedLabels`, unless all are wanted.
 */
export function labelledOnce(
  type: ScheduledType,
  search: LabelSearch,
  { all = false } = {},
): { readonly from: Sql; readonly where: Sql } {
  const limit = raw(all || search.titles.length > 1 ? '' : `limit ${countedLabels}`)
  const once = sql`select distinct id from (${havingAll(type, search)} ${limit}) as labelled`
  return { from: sql`from (${once}) as m`, where: hasOthers(type, search) }
}

/** The noteable `m` is one of these ids, which are kept in a hash table. */
export const isOneOf = (ids: Sql): Sql => sql`coalesce(m.id in (${ids}), false)`

/**
 * The noteable `m` has all of the labels: looked up in a hash table of those that have them. Their number is that of entries of an index,
 * while the labels of each noteable are some ten pages.
 */
export const isAmongLabelled = (type: ScheduledType, search: LabelSearch): Sql =>
  sql`(${isOneOf(havingAll(type, search))} and ${hasOthers(type, search)})`

/** The noteables that have the rarest of some labels, and maybe not the others. */
export type Labelled =
  | { readonly frequency: 'few'; readonly ids: readonly number[] }
  | {
      /** Whether the noteables fit into a hash table. */
      readonly frequency: 'many' | 'very many'
      /** How many there are, at most `veryMany`. */
      readonly found: number
      /** Rows of their ids. */
      readonly rows: Sql
      /** Rows of ids: all that have each of the labels. */
      readonly all: Sql
    }

const rarestRow = { title: text, found: integer, ids: nullable(text) }

/** How many noteables, up to `most`, have the rarest of the labels, and if they are less than `many` which. PostgreSQL cannot estimate it: labels of thousands of projects may share a title. */
async function findRarest(db: Db, type: ScheduledType, search: LabelSearch, most: number) {
  const compared = search.titles.slice(0, comparedLabels)
  const ofRarest = having(type, raw('rarest.title'), search)
  const { title, found, ids } = (await db.snapshotCache.row(
    rarestRow,
    byKey(sql`
      select rarest.title, rarest.found,
        case
          when rarest.found < ${literal(many)} then (
            select string_agg(of_rarest.id::text, ',') from (${ofRarest}) as of_rarest
          )
        end as ids
      from (
        select t.title, c.found
        from unnest(${compared}::text[]) as t (title)
          cross join lateral (
            select count(*) as found
            from (${having(type, raw('t.title'), search)} limit ${literal(most)}) as first_ones
          ) as c
        order by c.found
        limit 1
      ) as rarest
    `),
  ))!
  return { title, found, ids: found >= many ? undefined : ids === null ? [] : ids.split(',').map(Number) }
}

/** Ids of the noteables that have the rarest of the labels, and maybe not the others, if they are less than `many`. */
export const findFewLabelled = async (
  db: Db,
  type: ScheduledType,
  search: LabelSearch,
): Promise<readonly number[] | undefined> => (await findRarest(db, type, search, many)).ids

/** Which noteables have the rarest of the labels. */
export async function findLabelled(db: Db, type: ScheduledType, search: LabelSearch): Promise<Labelled> {
  const { title, found, ids } = await findRarest(db, type, search, veryMany)
  if (ids) return { frequency: 'few', ids }
  return {
    frequency: found < veryMany ? 'many' : 'very many',
    found,
    rows: having(type, sql`${title}`, search),
    all: havingAll(type, search),
  }
}
