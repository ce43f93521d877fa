import type { Db } from '../db/db.ts'
import { integer, nullable, text } from '../db/row.ts'
import { literal, raw, sql } from '../db/sql.ts'
import type { Crowded, List, ListPart } from './list.ts'

/** Matching rows from which on the first rows in the order are tried before all that match are read. */
const many = 1000

/** Matching rows from which on they are read in the order alone: some are among each few thousand rows. */
const veryMany = 20_000

/**
 * A sample of one row in two thousand: `many` matches in it mean some 200,000 in the table. It has the same pages each time, so that they are
 * cached.
 */
const sampled = { rows: raw('tablesample system (0.05) repeatable (1)'), many: 100 }

/** A list, or the conditions of one that is counted. */
type Searched = Pick<List, 'from' | 'where' | 'parts' | 'matching' | 'decide' | 'onePlan' | 'given'>

/** With the number of rows that it has at most, if they are few. */
export type NarrowedList<L = List> = L & { readonly few?: number }

const foundRow = { found: integer, ids: nullable(text) }

/** A list with what a first statement finds out (`decide`), and with what leads to its rows that match a text. */
export async function prepared<L extends Searched>(db: Db, list: L): Promise<NarrowedList<L>> {
  if (!list.decide) return withMatches(db, list)
  const decided = { ...list, ...(await list.decide(db)) }
  return decided.few === undefined ? withMatches(db, decided) : decided
}

/**
 * A list with what leads to its rows that match a text (`matching`); other lists as they are. How many rows match is asked first. If they are
 * less than `fewBelow`, the list is one of their ids (`few`), with the plan that the list says. If `veryMany` match, the table is read in the
 * order, or as `ifVeryMany` says. Between them the first rows in the order are looked at (`walked`), and if too few match, all that match are sorted.
 *
 * An index of trigrams finds all rows that match before the first is counted, which takes seconds for millions. So a sample of the table is asked
 * first (`isSlow`). An unlucky sample costs time, but changes no answer.
 *
 * PostgreSQL must not choose. It estimates the number from a hundred sampled texts: of a text that is in one of them it expects a
 * hundredth of all rows to match, and then reads the table in the order of the list until a page is full.
 */
async function withMatches<L extends Searched>(db: Db, list: L): Promise<NarrowedList<L>> {
  if (!list.matching) return list
  const { table, key, condition, isSlow, unless, walked, counted, few, fewBelow = many, ifVeryMany } = list.matching
  const inSample = isSlow
    ? sql`(select count(*) from ${table} ${sampled.rows} where ${condition}) >= ${literal(sampled.many)}`
    : raw('false')
  // Rows are read as they are asked for, after the index. A limit within would have the planner read the table instead.
  const { found, ids } = (await db.snapshotCache.row(
    foundRow,
    sql`
      with matching as materialized (select ${key} as id from ${table} where ${condition})
      select found,
        case when found < ${literal(fewBelow)} then (select string_agg(matching.id::text, ',') from matching) end as ids
      from (
        select case
          when ${unless ?? raw('false')} then ${literal(veryMany)}
          when ${inSample} then ${literal(veryMany)}
          else (
            select count(*)
            from (select from matching limit ${literal(few ? fewBelow : veryMany)}) as first_ones
          )
        end as found
      ) as counted
    `,
  ))!
  if (found < fewBelow) {
    const matching = ids === null ? [] : ids.split(',').map(Number)
    const { from, where, given }: Pick<List, 'from' | 'where' | 'given'> = few ? { ...few, given: undefined } : list
    const found = [...where, sql`${key} = any(${matching}::bigint[])`]
    return {
      ...list,
      matching: undefined,
      given,
      from,
      where: found,
      parts: [{ where: raw('true'), few: true }],
      few: fewBelow,
    }
  }
  if (!walked) return { ...list, matching: undefined }
  const part: ListPart = { where: condition, ...(counted && { counted }) }
  const crowded: Crowded = { when: () => raw('true'), from: walked, where: condition }
  const parts: List['parts'] = [found < veryMany ? { ...part, few: true, crowded } : (ifVeryMany ?? part)]
  return { ...list, matching: undefined, parts, onePlan: false }
}
