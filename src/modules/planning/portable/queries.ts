import {
  author,
  choice,
  day,
  flag,
  informs,
  moment,
  orElse,
  orNull,
  ownNumber,
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
import { belowHeld, reaching } from '../../groups/index.ts'
import { reachNumber } from '../../projects/index.ts'

export const times = { created_at: moment, updated_at: moment }
export const title = words(255)
export const longText = words(1_048_576)

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
  union
  select l.milestone_id
  from release_milestones l join releases m on m.id = l.release_id
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

export const labelColumns = {
  title,
  color: words(7, /^#[0-9a-fA-F]{6}$/),
  description: orNull(words(65_536)),
  ...times,
}

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

export const milestoneColumns = {
  iid: ownNumber,
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
    iid: ownNumber,
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

const kinds = {
  issue: { table: 'issues', column: 'issue_id', of: 'project', scheduled: true },
  merge_request: { table: 'merge_requests', column: 'merge_request_id', of: 'project', scheduled: true },
  epic: { table: 'epics', column: 'epic_id', of: 'group', scheduled: false },
} as const

/** Labels, label events and state events of planned work, and milestone events of what is scheduled. */
export function ofNoteables(one: keyof typeof kinds): Relation[] {
  const { table, column, of, scheduled } = kinds[one]
  const noteable = { [one]: { ...partOf(table), column } }
  const found = (child: string) => belowHeld(of, table, column, child)
  const labelled = found(`${one}_labels`)
  const byNumber = [...labelled.order, 'm.iid']
  const events = [...byNumber, 't.id']
  return [
    {
      name: `${one}_labels`,
      ...labelled,
      from: sql`${labelled.from} join labels l on l.id = t.label_id left join namespaces ln on ln.id = l.namespace_id`,
      // Of labels of groups with the same title, the highest group comes first, as in the list of labels.
      order: [
        ...byNumber,
        '(l.project_id is null)::int',
        { text: 'l.title' },
        'coalesce(cardinality(ln.traversal_ids), 0)',
        't.label_id',
      ],
      columns: { ...noteable, label: { ...partOf('labels'), column: 'label_id' } },
      repeats: 'skip',
    },
    {
      name: `${one}_label_events`,
      ...found('label_events'),
      order: events,
      columns: {
        ...noteable,
        label: { ...refersTo('labels'), column: 'label_id' },
        author: { ...author, column: 'user_id' },
        action: choice('add', 'remove'),
        created_at: moment,
      },
    },
    ...(scheduled
      ? [
          {
            name: `${one}_milestone_events`,
            ...found('milestone_events'),
            order: events,
            columns: {
              ...noteable,
              milestone: { ...refersTo('milestones'), column: 'milestone_id' },
              author: { ...author, nullable: true, column: 'user_id' },
              action: choice('add', 'remove'),
              created_at: moment,
            },
          } satisfies Relation,
        ]
      : []),
    {
      name: `${one}_state_events`,
      ...found('state_events'),
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

export const boards: Relation = {
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

export const boardParts: readonly Relation[] = [
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
  ...ofNoteables('issue'),
  links,
  boards,
  ...boardParts,
]

/** What `planning` has of the merge requests of a project. */
export const planningOfMergeRequests: readonly Relation[] = ofNoteables('merge_request')

/** As many as a request may name. */
const mostOfRelease = 100

/** The record of a release has all of its milestones. */
function withinRelease(record: PortableRecord, { state }: Amending): PortableRecord | undefined {
  const key = String(record['release'])
  const count = (state.get(key) ?? 0) + 1
  state.set(key, count)
  return count > mostOfRelease ? undefined : record
}

/** Milestones of releases, which come before. */
export const releaseMilestoneRelation: Relation = {
  name: 'release_milestones',
  table: 'release_milestones',
  from: raw(
    'from releases m join release_milestones t on t.release_id = m.id join milestones ms on ms.id = t.milestone_id',
  ),
  where: ({ id }) => sql`m.project_id = ${id}`,
  order: ['m.id', { text: 'ms.title' }, 't.milestone_id'],
  columns: {
    release: { ...partOf('releases'), column: 'release_id' },
    milestone: { ...partOf('milestones'), column: 'milestone_id' },
  },
  repeats: 'skip',
  amend: withinRelease,
}
