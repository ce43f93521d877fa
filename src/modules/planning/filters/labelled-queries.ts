import type { Actor } from '../../../access/actor.ts'
import { type Decided, everything, type List, type ListPart } from '../../../api/list.ts'
import type { Db } from '../../../db/db.ts'
import { and, join, raw, type Sql, sql } from '../../../db/sql.ts'
import { type ScheduledType, tableOf } from '../../discussion/index.ts'
import { openVisibility } from '../../projects/index.ts'
import { findFewLabelled, findLabelled, isOneOf, type Labelled, many } from './label-queries.ts'
import {
  type Access,
  accessOf,
  countedByLabels,
  type Reached,
  walked,
  walkedAlone,
  withEachProject,
} from './parts-queries.ts'

/** The noteables with the rarest of the labels, of some audiences only. */
const find = (db: Db, { type, labels, state }: Reached, audience?: Access['isOpen']): Promise<Labelled> =>
  findLabelled(db, type, { titles: labels!, state, ...(audience && { audience }) })

const hasId = (ids: readonly number[]): Sql => sql`m.id = any(${ids}::bigint[])`

/** The few noteables of these ids, found by one search or two, that meet the conditions; `from` the tables of the list if nothing else is said. */
const ofIds = ({ where, ...from }: Pick<Decided, 'from'> & Pick<List, 'where'>, ids: readonly number[]): Decided => ({
  ...from,
  where: [...where, hasId(ids)],
  parts: [{ ...everything, few: true }],
  few: 2 * many,
})

const fewAmongAll = ({ type }: Reached, where: readonly Sql[]) => ({ from: withEachProject(tableOf(type)), where })

/** The noteables with labels of which the rarest leads to few; `list` has all conditions. Nothing is decided if it leads to more. */
export async function labelledFew(
  db: Db,
  { type, labels, state }: Pick<Reached, 'type' | 'labels' | 'state'>,
  list: Pick<List, 'from' | 'where'>,
): Promise<Decided> {
  const ids = await findFewLabelled(db, type, { titles: labels!, state })
  return ids ? ofIds(list, ids) : {}
}

/**
 * Whether to read rows in order until there are enough with a label, instead of sorting all `found` that have it. Of N noteables, of which one of four
 * is of the state and audience, the first takes `rows` · N / 4 / `found` entries of an index; the second finds each by its key, which takes five times
 * as long.
 */
const suitsOrder = (type: ScheduledType, found: number, rows: number): Sql => sql`
  ${found}::double precision ^ 2 >= (
    select ${rows} * m.reltuples / 20 from pg_class m where m.oid = '${tableOf(type)}'::regclass
  )
`

/** The condition of the only label. What is found by the label is not asked for it; parts that are found otherwise are. */
const onlyLabel = ({ labels, labelCondition }: Reached): readonly Sql[] =>
  labels?.length === 1 ? [labelCondition!] : []

const filtersBesideLabel = (reached: Reached): readonly Sql[] =>
  onlyLabel(reached).length > 0 ? reached.others : reached.filters

/**
 * The noteables of a part that have labels. `implied` are conditions on `m` that the part implies: an index by time has the rows that meet
 * them and are of the state, so that these alone are looked at.
 */
function labelledPart(reached: Reached, labelled: Labelled, part: ListPart, implied: readonly Sql[]): ListPart {
  const { type, rows, order, state } = reached
  const { counted: _, ...uncounted } = part
  if (labelled.frequency === 'few')
    return { ...uncounted, where: sql`${part.where} and ${hasId(labelled.ids)}`, few: true }
  const inState = state === undefined ? [] : [sql`m.state = ${state}`]
  const inOrder = order !== 'other' && implied.length > 0 ? [...implied, ...inState] : []
  const isMany = labelled.frequency === 'many'
  const isLabelled = isMany ? [isOneOf(labelled.rows)] : onlyLabel(reached)
  return {
    ...part,
    where: sql`${part.where} and m.id = any(array(${labelled.all}))`,
    few: true,
    crowded: {
      when: (wanted) => (isMany ? suitsOrder(type, labelled.found, wanted) : raw('true')),
      from: (part.own ? walkedAlone : walked)(rows, inOrder),
      where: and([part.where, ...isLabelled]),
    },
  }
}

/**
 * The noteables of a project with labels, which are the project's own or those of groups around it: of a label that few have, found by it, and
 * asked for one that very many have. `whereOf` makes the conditions of the list from those of its filters.
 */
export async function labelledOfProject(
  db: Db,
  reached: Reached,
  projectId: number,
  whereOf: (filters: readonly Sql[]) => readonly Sql[],
): Promise<Decided> {
  const { type, labels, state } = reached
  const labelled = await findLabelled(db, type, { titles: labels!, state, projectId })
  if (labelled.frequency === 'few') return ofIds({ where: whereOf(filtersBesideLabel(reached)) }, labelled.ids)
  if (labelled.frequency === 'very many') return {}
  return { where: whereOf([...filtersBesideLabel(reached), isOneOf(labelled.rows)]) }
}

/** All noteables with labels that meet the conditions of a list. */
export async function labelledEverything(
  db: Db,
  reached: Reached,
  { from, where }: { readonly from: Sql; readonly where: readonly Sql[] },
): Promise<Decided> {
  const labelled = await find(db, reached)
  if (labelled.frequency === 'few') return ofIds(fewAmongAll(reached, [...where, ...reached.filters]), labelled.ids)
  const filters = filtersBesideLabel(reached)
  // A count has a limit. If very many have the label, it reaches this before all of their ids are read.
  const found = labelled.frequency === 'many' ? [...filters, sql`m.id = any(array(${labelled.all}))`] : reached.counted
  const counted = { from, where: and([...where, ...found]) }
  return {
    where: [...where, ...filters],
    parts: [labelledPart(reached, labelled, { ...everything, counted }, [])],
  }
}

/**
 * The noteables with labels that a caller other than an administrator may read, which meet the conditions `readable`. Those open to the caller
 * and the others are looked for apart: few of one of them may have a label that is common among the others.
 */
export async function labelledParts(
  db: Db,
  reached: Reached,
  caller: Actor,
  readable: readonly Sql[],
): Promise<Decided> {
  const { projects, given, isOpen, open, isClosed, memberships, members, own } = accessOf(reached, caller)
  const [opened, closed] = await Promise.all([
    find(db, reached, isOpen),
    find(db, reached, (audience) => sql`${audience} < ${openVisibility(caller)}`),
  ])
  if (opened.frequency === 'few' && closed.frequency === 'few')
    return ofIds(fewAmongAll(reached, readable), [...opened.ids, ...closed.ids])
  const filters = filtersBesideLabel(reached)
  const openPart = { ...open(filters), ...(!caller.limits && { counted: countedByLabels(reached, isOpen) }) }
  const openParts = reached.confidential ? [] : [labelledPart(reached, opened, openPart, [isOpen(raw('m.audience'))])]
  const where = [...projects, ...filters]
  if (closed.frequency !== 'few') {
    // Found from the caller's projects, and asked for the label.
    const asked = onlyLabel(reached)
    return { where, given, parts: partsFrom([...openParts, members(isClosed, closed.found), ...own(asked)]) }
  }
  const isOfMember = sql`(${join(memberships, ' or ')})`
  const ofMembers: ListPart = { where: and([isClosed, isOfMember, hasId(closed.ids)]), few: true }
  const others = closed.ids.length === 0 ? [] : [ofMembers, ...own([hasId(closed.ids)])]
  return { where, parts: partsFrom([...openParts, ...others]) }
}

/** At least one: a list of none has no rows. */
const partsFrom = (parts: readonly ListPart[]): NonNullable<Decided['parts']> =>
  parts.length === 0 ? [{ where: raw('false') }] : (parts as [ListPart, ...ListPart[]])
