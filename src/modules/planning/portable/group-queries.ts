import {
  author,
  choice,
  day,
  flag,
  moment,
  orElse,
  orNull,
  ownNumber,
  partOf,
  person,
  refersTo,
  whole,
} from '../../../db/portable/columns.ts'
import type { Amending, Holder, PortableRecord, Relation } from '../../../db/portable/relation.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { groupOrder, groupsBelow, heldByGroups } from '../../groups/index.ts'
import { reachGroupNumbers } from '../../projects/index.ts'
import { mostChildren, mostGenerations } from '../epics/limits.ts'
import { boardParts, boards, labelColumns, longText, milestoneColumns, ofNoteables, times, title } from './queries.ts'

/** Rows of a group and all groups below it, which are in the order of their lines. */
const group = { group: { ...partOf('groups'), column: 'namespace_id' } }

const reachOfGroups = (what: 'epics' | 'milestones', { id }: Holder): Sql =>
  reachGroupNumbers(
    what,
    sql`
      select t.namespace_id, max(t.iid) as last
      from ${raw(what)} t
      where t.namespace_id in (${groupsBelow(id)})
      group by t.namespace_id
    `,
  )

/** Generations above an epic in its own group. The group of a parent is that of the epic or above it. */
const generationsAbove = raw(`
  with recursive above as (
    select t.parent_id as id, 0 as step
    union all
    select e.parent_id, above.step + 1
    from above join epics e on e.id = above.id and e.namespace_id = t.namespace_id
    where above.step < ${mostGenerations}
  )
  select max(step) as generations from above
`)

/** An archive may have other trees than the API can make: what has no place in one becomes the top of another. */
function placed(record: PortableRecord, { state, line }: Amending): PortableRecord {
  const { parent: given, ...without } = record
  const parent = typeof given === 'number' ? given : undefined
  const [generation, children] = [
    (state.get(`generation of ${parent}`) ?? 0) + 1,
    (state.get(`children of ${parent}`) ?? 0) + 1,
  ]
  const fits = parent !== undefined && generation <= mostGenerations && children <= mostChildren
  if (fits) state.set(`children of ${parent}`, children)
  state.set(`generation of ${line}`, fits ? generation : 1)
  return fits ? record : without
}

const epics: Relation = {
  name: 'epics',
  ...heldByGroups('epics'),
  from: sql`${heldByGroups('epics').from} cross join lateral (${generationsAbove}) as above`,
  order: [...groupOrder, 'above.generations', 't.iid'],
  columns: {
    ...group,
    iid: ownNumber,
    parent: { ...refersTo('epics'), column: 'parent_id' },
    // The next child comes after the last one.
    relative_position: orNull(whole(0, 2 ** 30)),
    title,
    description: orNull(longText),
    author: { ...author, column: 'author_id' },
    state: choice('opened', 'closed'),
    confidential: orElse(flag, false),
    start_date_is_fixed: orElse(flag, false),
    start_date_fixed: orNull(day),
    due_date_is_fixed: orElse(flag, false),
    due_date_fixed: orNull(day),
    closed_at: orNull(moment),
    closed_by: { ...person, column: 'closed_by_id' },
    ...times,
  },
  hasId: true,
  sortsIds: true,
  batch: 50,
  amend: placed,
  after: (holder) => [
    reachOfGroups('epics', holder),
    sql`
      update epics t
      set parent_id = null, relative_position = null
      from epics p, namespaces n
      where t.namespace_id in (${groupsBelow(holder.id)})
        and p.id = t.parent_id
        and n.id = t.namespace_id
        and p.namespace_id <> all(n.traversal_ids)
    `,
  ],
}

/** What `planning` has of a group and all groups below it. */
export const planningOfGroups: readonly Relation[] = [
  {
    name: 'labels',
    ...heldByGroups('labels'),
    order: [...groupOrder, 't.id'],
    columns: { ...group, ...labelColumns },
    hasId: true,
  },
  {
    name: 'milestones',
    ...heldByGroups('milestones'),
    order: [...groupOrder, 't.id'],
    columns: { ...group, ...milestoneColumns },
    hasId: true,
    batch: 50,
    after: (holder) => [reachOfGroups('milestones', holder)],
  },
  {
    ...boards,
    ...heldByGroups('boards'),
    order: [...groupOrder, 't.id'],
    columns: { ...group, ...boards.columns },
    holder: [],
  },
  ...boardParts.map((part) => ({
    ...part,
    from: sql`${part.from} join namespaces n on n.id = m.namespace_id`,
    where: ({ id }: Holder) => sql`m.namespace_id in (${groupsBelow(id)})`,
    order: [...groupOrder, ...part.order],
  })),
  epics,
  ...ofNoteables('epic'),
]
