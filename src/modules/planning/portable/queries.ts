import {
  author,
  choice,
  day,
  flag,
  informs,
  moment,
  orElse,
  orNull,
  participantOrNull,
  partOf,
  partOfOrNull,
  person,
  refersTo,
  whole,
  words,
} from '../../../db/portable/columns.ts'
import {
  type Amending,
  below,
  type Holder,
  heldBy,
  type PortableRecord,
  type Relation,
} from '../../../db/portable/relation.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { groupOrder, groupsBelow, heldByGroups, reaching } from '../../groups/index.ts'
import { reachGroupNumbers, reachNumber } from '../../projects/index.ts'

const times = { created_at: moment, updated_at: moment }
const title = words(255)
const longText = words(1_048_576)

/** Labels of groups that a project uses. */
const usedLabels = (projectId: number): Sql => sql`
  select l.label_id
  from issue_labels l join issues m on m.id = l.issue_id
  where m.project_id = ${projectId}
  union
  select l.label_id
  from merge_request_labels l join merge_requests m on m.id = l.merge_request_id
  where m.project_id = ${projectId}
  union
  select l.label_id
  from label_events l join issues m on m.id = l.issue_id
  where m.project_id = ${projectId}
  union
  select l.label_id
  from label_events l join merge_requests m on m.id = l.merge_request_id
  where m.project_id = ${projectId}
  union
  select l.label_id
  from board_lists l join boards m on m.id = l.board_id
  where m.project_id = ${projectId}
  union
  select l.label_id
  from board_labels l join boards m on m.id = l.board_id
  where m.project_id = ${projectId}
  union
  select l.label_id
  from label_priorities l
  where l.project_id = ${projectId}
`

/** Milestones of groups that a project uses. */
const usedMilestones = (projectId: number): Sql => sql`
  select m.milestone_id
  from issues m
  where m.project_id = ${projectId}
  union
  select m.milestone_id
  from merge_requests m
  where m.project_id = ${projectId}
  union
  select e.milestone_id
  from milestone_events e join issues m on m.id = e.issue_id
  where m.project_id = ${projectId}
  union
  select e.milestone_id
  from milestone_events e join merge_requests m on m.id = e.merge_request_id
  where m.project_id = ${projectId}
  union
  select m.milestone_id
  from boards m
  where m.project_id = ${projectId}
  union
  select l.milestone_id
  from board_lists l join boards m on m.id = l.board_id
  where m.project_id = ${projectId}
`

/** Own rows first, then those of groups by title, so that the order does not depend on the groups. */
const ownFirst = [
  '(t.project_id is null)::int',
  'case when t.project_id is null then 0 else t.id end',
  { text: 't.title' },
  't.id',
] as const

/** Labels or milestones of groups around a project take the place of those that the archive has from groups. */
const adoptByTitle = (table: 'labels' | 'milestones'): NonNullable<Relation['adopt']> => ({
  among: ({ group }) => group === true,
  key: ({ title }) => String(title),
  find: ({ id }, titles) => sql`
    select distinct on (t.title) t.title as key, t.id
    from ${raw(table)} t join namespaces g on g.id = t.namespace_id
    where t.title = any(${titles}::text[]) and ${reaching('t', sql`${id}`)}
    order by t.title, cardinality(g.traversal_ids) desc
  `,
})

const ofGroup = informs('t.project_id is null', flag)

const labelColumns = { title, color: words(7, /^#[0-9a-fA-F]{6}$/), description: orNull(words(65_536)), ...times }

const labels: Relation = {
  name: 'labels',
  table: 'labels',
  from: raw('from labels t'),
  where: ({ id }) => sql`(t.project_id = ${id} or t.id = any(array(${usedLabels(id)})))`,
  order: ownFirst,
  columns: { ...labelColumns, group: orElse(ofGroup, false) },
  hasId: true,
  holder: ['project_id'],
  adopt: adoptByTitle('labels'),
}

const milestoneColumns = {
  iid: whole(1),
  title,
  description: orNull(longText),
  state: choice('active', 'closed'),
  start_date: orNull(day),
  due_date: orNull(day),
  ...times,
}

/** A milestone of a group that becomes one of the project gets the next number. */
function numbered(record: PortableRecord, { state }: Amending): PortableRecord {
  const last = state.get('last') ?? 0
  const iid = record['group'] === true ? last + 1 : Number(record['iid'])
  state.set('last', Math.max(last, iid))
  return { ...record, iid }
}

const reach = (what: 'issues' | 'milestones', { id }: Holder): Sql =>
  sql`
    ${reachNumber(what, sql`(select coalesce(max(iid), 0) from ${raw(what)} where project_id = ${id})`, sql`select ${id}::bigint as project_id`)}
  `

const milestones: Relation = {
  name: 'milestones',
  table: 'milestones',
  from: raw('from milestones t'),
  where: ({ id }) => sql`(t.project_id = ${id} or t.id = any(array(${usedMilestones(id)})))`,
  order: ownFirst,
  columns: { ...milestoneColumns, group: orElse(ofGroup, false) },
  hasId: true,
  holder: ['project_id'],
  adopt: adoptByTitle('milestones'),
  amend: numbered,
  after: (holder) => [reach('milestones', holder)],
  batch: 50,
}

const priorities: Relation = {
  name: 'label_priorities',
  table: 'label_priorities',
  from: raw('from label_priorities t join labels l on l.id = t.label_id'),
  where: ({ id }) => sql`t.project_id = ${id}`,
  order: ['(l.project_id is null)::int', { text: 'l.title' }, 't.label_id'],
  columns: { label: { ...partOf('labels'), column: 'label_id' }, priority: whole() },
  holder: ['project_id'],
  repeats: 'skip',
}

const issues: Relation = {
  name: 'issues',
  ...heldBy('issues'),
  order: ['t.iid'],
  columns: {
    iid: whole(1),
    title,
    description: orNull(longText),
    author: { ...author, column: 'author_id' },
    state: choice('opened', 'closed'),
    confidential: orElse(flag, false),
    discussion_locked: orNull(flag),
    milestone: { ...refersTo('milestones'), column: 'milestone_id' },
    due_date: orNull(day),
    weight: orNull(whole()),
    time_estimate: orElse(whole(), 0),
    relative_position: orNull(whole(-(2 ** 52), 2 ** 52)),
    closed_at: orNull(moment),
    closed_by: { ...person, column: 'closed_by_id' },
    // No one gets a second mail for the same day.
    due_mailed_for: orNull(day),
    ...times,
  },
  hasId: true,
  holder: ['project_id'],
  batch: 50,
  after: (holder) => [reach('issues', holder)],
}

const kinds = [
  { table: 'issues', column: 'issue_id', one: 'issue' },
  { table: 'merge_requests', column: 'merge_request_id', one: 'merge_request' },
] as const

/** Labels, label events, milestone events and state events of issues or merge requests. */
function ofNoteables({ table, column, one }: (typeof kinds)[number]): Relation[] {
  const noteable = { [one]: { ...partOf(table), column } }
  const events = ['m.iid', 't.id']
  return [
    {
      name: `${one}_labels`,
      ...below(table, column, `${one}_labels`),
      from: raw(`from ${table} m join ${one}_labels t on t.${column} = m.id join labels l on l.id = t.label_id`),
      order: ['m.iid', '(l.project_id is null)::int', { text: 'l.title' }, 't.label_id'],
      columns: { ...noteable, label: { ...partOf('labels'), column: 'label_id' } },
      repeats: 'skip',
    },
    {
      name: `${one}_label_events`,
      ...below(table, column, 'label_events'),
      order: events,
      columns: {
        ...noteable,
        label: { ...refersTo('labels'), column: 'label_id' },
        author: { ...author, column: 'user_id' },
        action: choice('add', 'remove'),
        created_at: moment,
      },
    },
    {
      name: `${one}_milestone_events`,
      ...below(table, column, 'milestone_events'),
      order: events,
      columns: {
        ...noteable,
        milestone: { ...refersTo('milestones'), column: 'milestone_id' },
        author: { ...author, nullable: true, column: 'user_id' },
        action: choice('add', 'remove'),
        created_at: moment,
      },
    },
    {
      name: `${one}_state_events`,
      ...below(table, column, 'state_events'),
      order: events,
      columns: {
        ...noteable,
        author: { ...author, nullable: true, column: 'user_id' },
        state: choice('closed', 'reopened', 'merged'),
        created_at: moment,
      },
    },
  ]
}

const links: Relation = {
  name: 'issue_links',
  ...below('issues', 'source_id', 'issue_links'),
  order: ['m.iid', 't.id'],
  columns: {
    source: { ...partOf('issues'), column: 'source_id' },
    target: { ...partOf('issues'), column: 'target_id' },
    link_type: choice('relates_to', 'blocks'),
    ...times,
  },
}

const boards: Relation = {
  name: 'boards',
  ...heldBy('boards'),
  order: ['t.id'],
  columns: {
    name: title,
    milestone: { ...refersTo('milestones'), column: 'milestone_id' },
    weight: orNull(whole()),
    hide_backlog_list: orElse(flag, false),
    hide_closed_list: orElse(flag, false),
    ...times,
  },
  hasId: true,
  holder: ['project_id'],
}

const board = { board: { ...partOf('boards'), column: 'board_id' } }

const ofBoards = (table: string): Pick<Relation, 'from' | 'where' | 'table'> => ({
  table,
  from: raw(`from boards m join ${table} t on t.board_id = m.id`),
  where: ({ id }) => sql`m.project_id = ${id}`,
})

const boardParts: readonly Relation[] = [
  {
    name: 'board_lists',
    ...ofBoards('board_lists'),
    order: ['m.id', 't.id'],
    columns: {
      ...board,
      label: { ...partOfOrNull('labels'), column: 'label_id' },
      assignee: { ...participantOrNull, column: 'assignee_id' },
      milestone: { ...partOfOrNull('milestones'), column: 'milestone_id' },
      position: whole(),
      max_issue_count: orElse(whole(), 0),
      max_issue_weight: orElse(whole(), 0),
      ...times,
    },
    repeats: 'skip',
  },
  {
    name: 'board_labels',
    ...ofBoards('board_labels'),
    from: raw('from boards m join board_labels t on t.board_id = m.id join labels l on l.id = t.label_id'),
    order: ['m.id', '(l.project_id is null)::int', { text: 'l.title' }, 't.label_id'],
    columns: { ...board, label: { ...partOf('labels'), column: 'label_id' } },
    repeats: 'skip',
  },
  {
    name: 'board_assignees',
    ...ofBoards('board_assignees'),
    order: ['m.id', 't.user_id'],
    columns: { ...board, assignee: { ...participantOrNull, nullable: false, column: 'user_id' } },
    repeats: 'skip',
  },
]

/** What `planning` has of a project, before merge requests. */
export const planningRelations: readonly Relation[] = [
  labels,
  milestones,
  priorities,
  issues,
  ...ofNoteables(kinds[0]),
  links,
  boards,
  ...boardParts,
]

/** What `planning` has of the merge requests of a project. */
export const planningOfMergeRequests: readonly Relation[] = ofNoteables(kinds[1])

/** Rows of a group and all groups below it, which are in the order of their lines. */
const group = { group: { ...partOf('groups'), column: 'namespace_id' } }

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
    after: ({ id }) => [
      reachGroupNumbers(
        'milestones',
        sql`
          select t.namespace_id, max(t.iid) as last
          from milestones t
          where t.namespace_id in (${groupsBelow(id)})
          group by t.namespace_id
        `,
      ),
    ],
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
]
