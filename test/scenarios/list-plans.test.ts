import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seed } from '../../bench/seed.ts'
import type { Size } from '../../bench/sizes.ts'
import { groupId, projectId, userId } from '../../bench/world.ts'
import type { Actor, Caller } from '../../src/access/actor.ts'
import type { List } from '../../src/api/list.ts'
import { prepared } from '../../src/api/matching-queries.ts'
import { countedRows, fetchPage } from '../../src/api/page.ts'
import { countOf, pageStatement, plannedFor } from '../../src/api/page-queries.ts'
import type { Db, Statement } from '../../src/db/db.ts'
import { integer, notNull, type Shape } from '../../src/db/row.ts'
import { and, raw, type Sql, sql } from '../../src/db/sql.ts'
import type { Oid } from '../../src/git/format/oid.ts'
import { tokenList } from '../../src/modules/accounts/tokens/queries.ts'
import { contributedTo, feedOf } from '../../src/modules/activity/event-feed/queries.ts'
import { kindOf } from '../../src/modules/discussion/noteables/kinds.ts'
import type { Noteable } from '../../src/modules/discussion/noteables/noteable.ts'
import {
  assigneesTableOf,
  columnOf,
  labelsTableOf,
  readableRow,
  tableOf,
} from '../../src/modules/discussion/noteables/queries.ts'
import { discussionsOf, notesOf, notesOfDiscussion } from '../../src/modules/discussion/notes/record-queries.ts'
import { notesWith } from '../../src/modules/discussion/notes/search-queries.ts'
import { listGroups } from '../../src/modules/groups/groups/list-queries.ts'
import type { ProjectOrGroupHolder } from '../../src/modules/groups/holders/holder.ts'
import { projectsIn } from '../../src/modules/groups/holders/queries.ts'
import { countEverything } from '../../src/modules/instance/statistics/queries.ts'
import { namespacesOf } from '../../src/modules/namespaces/namespaces/queries.ts'
import { visibleGroups } from '../../src/modules/namespaces/namespaces/visible-groups-queries.ts'
import { boardsOf } from '../../src/modules/planning/boards/queries.ts'
import { listEpics } from '../../src/modules/planning/epic-lists/queries.ts'
import { issueOrders } from '../../src/modules/planning/issue-lists/order-queries.ts'
import { countIssues, type IssueFilters, listIssues } from '../../src/modules/planning/issue-lists/queries.ts'
import { labelsOf } from '../../src/modules/planning/labels/queries.ts'
import { allDeployKeys } from '../../src/modules/projects/deploy-keys/queries.ts'
import { listProjects, type ProjectFilters } from '../../src/modules/projects/projects/list-queries.ts'
import { visibleProjects } from '../../src/modules/projects/projects/queries.ts'
import { deletedRepositoriesOf, repositoriesBelow, repositoriesOf } from '../../src/modules/registry/images/queries.ts'
import { rulesOf } from '../../src/modules/review/approval-rules/queries.ts'
import { broughtByMergeRequests } from '../../src/modules/review/closing/queries.ts'
import { listMergeRequests, mergeRequestOrders } from '../../src/modules/review/reading/list-queries.ts'
import { World } from '../world.ts'

const size: Size = { users: 1_000, projects: 20_000, groups: 600, mergeRequests: 10_000, issues: 0 }
/** Rows of tables and entries of indexes that may be read to find the rows of a page of 20, for a caller without memberships. */
const maximumReads = 1_000

/** What a caller is a member of: the groups with those above, the projects, and the merge requests there. */
const memberships = `
  with mine as (
    select p.id
    from projects p
    where p.namespace_id in (select group_id from group_access where user_id = $1)
      or p.id in (select project_id from project_access where user_id = $1)
  )
  select (select count(*) from mine) + 2 * (select count(*) from merge_requests where project_id in (select id from mine))
    + (
      select coalesce(sum(cardinality(n.traversal_ids)), 0)
      from group_access a join namespaces n on n.id = a.group_id
      where a.user_id = $1
    )
    + (select count(*) from stars where user_id = $1)
    + 2 * (select count(*) from merge_requests where author_id = $1)
    + (select count(*) from merge_request_assignees where user_id = $1) as count
`
/** Of each membership, some tables and indexes are read. */
const readsOfMembership = 5

let world: World
let client: pg.Client

beforeAll(async () => {
  world = await World.start()
  await seed(world.databaseUrl, size)
  client = new pg.Client({ connectionString: world.databaseUrl })
  await client.connect()
  await addIssues()
})

/** An issue for each merge request; one of ten is confidential. */
async function addIssues(): Promise<void> {
  await client.query(`
    insert into issues (iid, project_id, title, author_id, state, confidential, milestone_id, created_at, updated_at)
    select iid, project_id, title, author_id, case when state = 'opened' then 'opened' else 'closed' end, id % 10 = 3, milestone_id,
      created_at, updated_at
    from merge_requests`)
  await client.query(`
    insert into issue_assignees (issue_id, user_id)
    select m.id, a.user_id from merge_request_assignees a join merge_requests r on r.id = a.merge_request_id
      join issues m on m.project_id = r.project_id and m.iid = r.iid`)
  await client.query(`
    insert into issue_labels (issue_id, label_id)
    select m.id, a.label_id from merge_request_labels a join merge_requests r on r.id = a.merge_request_id
      join issues m on m.project_id = r.project_id and m.iid = r.iid`)
  await client.query(
    `
    insert into award_emoji (issue_id, user_id, name)
    select id, $1 + id % 7, 'thumbsup' from issues where id % 3 = 0 or id % 7 = 0`,
    [userId(1)],
  )
  // The label of few issues, in few of the projects.
  await client.query(`
    insert into label_priorities (project_id, label_id, priority)
    select distinct m.project_id, il.label_id, m.project_id % 4
    from issues m join issue_labels il on il.issue_id = m.id where m.project_id % 5 = 0`)
  await client.query(`
    with rare as (
      insert into labels (namespace_id, title, color)
      select id, 'rare', '#ff0000' from namespaces where kind = 'group' and parent_id is null order by id limit 1
      returning id)
    insert into issue_labels (issue_id, label_id) select m.id, rare.id from issues m, rare where m.id % 400 = 7`)
  // The label of all, another one in each group without a parent and in each project of a user.
  await client.query(`
    insert into labels (namespace_id, title, color)
    select id, 'Everywhere', '#00ff00' from namespaces where kind = 'group' and parent_id is null`)
  await client.query(`
    insert into labels (project_id, title, color)
    select p.id, 'Everywhere', '#00ff00'
    from projects p join namespaces n on n.id = p.namespace_id
    where n.kind = 'user' and (exists (select from issues where project_id = p.id) or exists (select from merge_requests where project_id = p.id))`)
  for (const [what, table] of [
    ['issue', 'issues'],
    ['merge_request', 'merge_requests'],
  ])
    await client.query(`
      insert into ${what}_labels (${what}_id, label_id)
      select m.id, l.id
      from ${table} m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
        join labels l on l.title = 'Everywhere' and (l.project_id = p.id or l.namespace_id = n.traversal_ids[1])`)
  await client.query('update issues set relative_position = id % 1000 where id % 2 = 0')
  // Hundreds have the label "label 9"; of these, all but a few are closed.
  await client.query(`update issues set state = 'opened' where id % 10 = 8 and id % 50 = 18`)
  // All rows are sampled, so that plans are the same in each run.
  await client.query('set default_statistics_target = 1000')
  await client.query('vacuum analyze')
}

afterAll(async () => {
  await client.end()
  await world[Symbol.asyncDispose]()
})

type Plan = {
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
  /** With `buffers`. */
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly Plan[]
}

/** What the scans of a plan read, including the rows that they discard. */
function readsOf(plan: Plan): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = plan
  const own = plan['Relation Name'] ? (plan['Actual Rows'] + filtered + rechecked) * plan['Actual Loops'] : 0
  return own + (plan.Plans ?? []).reduce((sum, child) => sum + readsOf(child), 0)
}

const pagesOf = (plan: Plan): number => plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!

/** The statement that reads a page of 20. */
async function pageOf(list: List, page: number): Promise<Statement> {
  const statements: Statement[] = []
  const rows = async (_: unknown, statement: Statement) => {
    statements.push(statement)
    return []
  }
  const row = async (shape: Shape, statement: Statement) => {
    // What the page is read from is asked first.
    if ('found' in shape) return world.db.row(shape, statement)
    if ('ids' in shape) statements.push(statement)
    return { total: 0, ids: null }
  }
  const byId = async () => new Map()
  const db = { rows, snapshotCache: { rows, row, byId, expects: () => false } } as unknown as Db
  // The records of the page are read one by one in any case.
  await fetchPage(
    db,
    {},
    { ...list, select: sql`select ${list.key!} ${list.from}` },
    { page, perPage: 20, keyset: false },
  )
  return statements[0]!
}

/** What a page of 20 reads, with the plan that the service has it read with. */
async function readsOfPage(list: List, page: number): Promise<number> {
  const statement = await pageOf(list, page)
  return statement.onePlan ? readsOfOnePlan(statement) : readsForValues(statement)
}

/** A page of 20 of a search, from the first statement on, and what these read with the plans that the service has them read with. */
async function searchedPage(list: List, page: number) {
  const statements: Statement[] = []
  const cache = world.db.snapshotCache
  const { rowsById: _, ...withoutRecords } = list
  const recorded = (statement: Statement) => {
    statements.push(statement)
    return statement
  }
  const row = (shape: Shape, statement: Statement) => cache.row(shape, recorded(statement))
  const rows = (shape: Shape, statement: Statement) => cache.rows(shape, recorded(statement))
  const paged = await fetchPage(
    { ...world.db, snapshotCache: { row, rows, expects: () => false } } as unknown as Db,
    { id: notNull(integer) },
    { ...withoutRecords, cached: true, select: sql`select ${list.key!} as id ${list.from}` },
    { page, perPage: 20, keyset: false },
  )
  const reads = async () => {
    let sum = 0
    for (const statement of statements) sum += await (statement.onePlan ? readsOfOnePlan : readsForValues)(statement)
    return sum
  }
  const pages = async () => {
    let sum = 0
    for (const { text, values } of statements) {
      const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) ${text}`, values)
      sum += pagesOf(rows[0]['QUERY PLAN'][0].Plan)
    }
    return sum
  }
  return { ids: paged.rows.map(({ id }) => String(id)), total: paged.total, reads, pages }
}

/** What a statement reads with a plan for its values. */
async function readsForValues({ text, values }: Statement): Promise<number> {
  const { rows } = await client.query(`explain (analyze, timing off, format json) ${text}`, values)
  return readsOf(rows[0]['QUERY PLAN'][0].Plan)
}

const actor = (id: number): Actor => ({ id, admin: false, external: false }) as Actor
const callers: readonly (readonly [string, Caller])[] = [
  ['an anonymous caller', null],
  ['a user with few projects', actor(userId(77))],
  ['another member of groups', actor(userId(313))],
  ['an administrator', { ...actor(1), admin: true }],
]

const orders = ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'] as const
const projects = (caller: Caller, filters: Partial<ProjectFilters>): List =>
  listProjects(caller, { of: 'everyone' }, { order_by: 'created_at', sort: 'desc', ...filters }, 'stamps')

const newest = { by: 'created_at', sort: 'desc' } as const

const labelled = (caller: Caller, labels: readonly string[], state?: 'opened'): List =>
  listIssues(caller, { of: 'everyone' }, { labels, ...(state && { state }) }, newest)

describe.each(callers)('a page of 20 reads a bounded number of rows, however many others have, for %s', (_, caller) => {
  const lists: (readonly [string, List])[] = [
    ...orders.flatMap((order_by) =>
      (['asc', 'desc'] as const).map(
        (sort) => [`projects by ${order_by} ${sort}`, projects(caller, { order_by, sort })] as const,
      ),
    ),

    ['projects of a visibility', projects(caller, { visibility: 'public' })],
    ...(caller === null
      ? []
      : ([
          ['projects of the caller', projects(caller, { membership: true })],
          ['projects of the caller by name', projects(caller, { membership: true, order_by: 'name', sort: 'asc' })],
          ['projects where the caller is a maintainer', projects(caller, { min_access_level: 40 })],
          ['projects that the caller owns', projects(caller, { owned: true })],
          ['projects that the caller starred', projects(caller, { starred: true })],
          ...mergeRequestOrders.flatMap((by) =>
            ([undefined, 'opened', 'merged', 'closed'] as const).map(
              (state) =>
                [
                  `merge requests, ${state ?? 'all'}, by ${by}`,
                  listMergeRequests(caller, { of: 'everyone' }, { ...(state && { state }) }, { by, sort: 'desc' }),
                ] as const,
            ),
          ),
          ...issueOrders.flatMap((by) =>
            (['asc', 'desc'] as const).flatMap((sort) =>
              (by === 'created_at' || by === 'updated_at'
                ? ([undefined, 'opened', 'closed'] as const)
                : [undefined]
              ).map(
                (state) =>
                  [
                    `issues, ${state ?? 'all'}, by ${by} ${sort}`,
                    listIssues(caller, { of: 'everyone' }, { ...(state && { state }) }, { by, sort }),
                  ] as const,
              ),
            ),
          ),
          ...[['rare'], ['label 3', 'rare'], ['absent', 'label 3']].map(
            (labels) => [`issues with labels ${labels.join()}`, labelled(caller, labels)] as const,
          ),
          ['open issues with a label that nearly all have that are closed', labelled(caller, ['label 9'], 'opened')],
          [
            'issues without a label',
            listIssues(
              caller,
              { of: 'everyone' },
              { not: { labels: ['label 3'] } },
              { by: 'created_at', sort: 'desc' },
            ),
          ],
          ...([{ scope: 'created_by_me' }, { scope: 'assigned_to_me' }] as const).map(
            (filters) =>
              [
                `issues with ${Object.entries(filters).join()}`,
                listIssues(caller, { of: 'everyone' }, filters, { by: 'created_at', sort: 'desc' }),
              ] as const,
          ),
          [
            'merge requests by the caller',
            listMergeRequests(
              caller,
              { of: 'everyone' },
              { scope: 'created_by_me' },
              { by: 'created_at', sort: 'desc' },
            ),
          ],
        ] as const)),
    [
      'groups by name',
      listGroups(caller, { of: 'everyone' }, { order_by: 'name', sort: 'asc', owned: false }, { statistics: false }),
    ],
  ]

  test.each(lists)('%s', async (_, list) => {
    const { rows } = await client.query(memberships, [caller?.id ?? 0])
    const maximum = maximumReads + readsOfMembership * Number(rows[0].count)
    expect(maximum).toBeLessThan(size.projects)
    expect(await readsOfPage(list, 1)).toBeLessThanOrEqual(maximum)
    expect(await readsOfPage(list, 3)).toBeLessThanOrEqual(maximum)
  })
})

describe.each(callers.slice(1) as [string, Actor][])('noteables updated after a time, for %s', (_, caller) => {
  const kinds = [
    ['issues', 'Issue', listIssues],
    ['merge_requests', 'MergeRequest', listMergeRequests],
  ] as const
  const wanted = kinds.flatMap(([table, type, list]) =>
    (['created_at', 'updated_at'] as const).flatMap((by) =>
      [30, 9_000].map((newer) => [table, by, newer, type, list] as const),
    ),
  )
  /** The time after which this number were updated. */
  const timeOf = async (table: string, newer: number): Promise<Date> =>
    (await client.query(`select updated_at from ${table} order by updated_at desc offset ${newer - 1} limit 1`)).rows[0]
      .updated_at

  test.each(wanted)(
    'pages of %s by %s, of which %i are newer, have these, and read a bounded number of rows',
    async (table, by, newer, type, list) => {
      const updatedAfter = await timeOf(table, newer)
      const listed = list(caller, { of: 'everyone' }, { updatedAfter }, { by, sort: 'desc' })
      const { rows } = await client.query(memberships, [caller.id])
      for (const page of [1, 3]) {
        const { ids, total, reads } = await searchedPage(listed, page)
        const filter = sql`m.updated_at >= ${updatedAfter}`
        expect(ids).toEqual((await plainPage(type, caller, `${by} desc`, page, filter)).slice(0, 20))
        expect(total).toBe(await plainTotal(type, caller, filter))
        // The total counts all, with their projects.
        expect(await reads()).toBeLessThanOrEqual(
          4 * newer + 2 * maximumReads + readsOfMembership * Number(rows[0].count),
        )
      }
    },
  )

  test.each(kinds.flatMap((kind) => [30, 9_000].map((newer) => [...kind, newer] as const)))(
    'pages of %s with a label that many have, in the order of their creation',
    async (table, type, list, newer) => {
      const updatedAfter = await timeOf(table, newer)
      const filters = { updatedAfter, labels: ['everywhere'] }
      const listed = list(caller, { of: 'everyone' }, filters, newest)
      const filter = sql`m.updated_at >= ${updatedAfter} and ${hasLabel(type, 'Everywhere')}`
      await expectPages(listed, [1, 3], type, caller, filter)
    },
  )

  test.each(wanted)(
    '%s of a project by %s, of which %i are newer, are found in those of the project',
    async (table, by, newer, _, list) => {
      const { rows } = await client.query(
        `select project_id as id, count(*) from ${table} group by 1 order by count(*) desc limit 1`,
      )
      const filters = { updatedAfter: await timeOf(table, newer) }
      const listed = list(caller, { of: 'project', id: Number(rows[0].id) }, filters, { by, sort: 'desc' })
      expect(await (await searchedPage(listed, 1)).reads()).toBeLessThanOrEqual(
        maximumReads + 4 * Number(rows[0].count),
      )
    },
  )
})

describe.each(callers.slice(1) as [string, Actor][])(
  'a page and its total read a bounded number of rows for %s',
  (_, caller) => {
    test.each([
      ['issues of a rare label', { labels: ['rare'] }],
      ['issues of a rare label with another filter', { labels: ['rare'], weight: 'None' }],
      ['issues of a rare label with any milestone', { labels: ['rare'], milestone: 'Any' }],
      ['issues of a label that none has, with any assignee', { labels: ['absent'], assignee: 'Any' }],
      ['open issues of a label that nearly all have that are closed', { labels: ['label 9'], state: 'opened' }],
    ] as const)('%s', async (_, filters) => {
      const { rows } = await client.query(memberships, [caller.id])
      const { reads } = await searchedPage(listIssues(caller, { of: 'everyone' }, filters, newest), 2)
      expect(await reads()).toBeLessThan(2 * maximumReads + readsOfMembership * Number(rows[0].count))
    })

    test.each([
      ['a rare label', { labels: ['rare'] }],
      ['a label that none has', { labels: ['absent'], state: 'opened' }],
    ] as const)('issues of a group with many projects, of %s', async (_, filters) => {
      const group = await largestGroup()
      const set = { of: 'group', traversalIds: [group], archived: true } as const
      const { ids, total, reads } = await searchedPage(listIssues(caller, set, filters, newest), 1)
      expect(total).toBe(ids.length)
      expect(await reads()).toBeLessThan(2 * maximumReads)
    })

    // Its issues are the last ones in the orders whose ties are newest first.
    test.each(issueOrders)('issues of an old project by %s', async (by) => {
      const set = { of: 'project', id: projectId(1) } as const
      const { ids, reads } = await searchedPage(listIssues(caller, set, {}, { by, sort: 'asc' }), 1)
      expect(ids).toHaveLength(20)
      expect(await reads()).toBeLessThan(3 * maximumReads)
    })

    test('statistics of a label that none has', async () => {
      const statements: Statement[] = []
      const row = (shape: Shape, statement: Statement) => {
        statements.push(statement)
        return world.db.snapshotCache.row(shape, statement)
      }
      const db = { ...world.db, snapshotCache: { ...world.db.snapshotCache, row } } as unknown as Db
      expect(await countIssues(db, caller, { of: 'everyone' }, { labels: ['absent'] })).toMatchObject({
        opened: 0,
        closed: 0,
      })
      let sum = 0
      for (const statement of statements) sum += await readsForValues(statement)
      expect(sum).toBeLessThan(maximumReads)
    })
  },
)

describe('a page for a member of hundreds of projects that are not open to others', () => {
  const kinds = [
    ['Issue', listIssues],
    ['MergeRequest', listMergeRequests],
  ] as const
  const cases = kinds.flatMap(([type, list]) =>
    mergeRequestOrders.flatMap((by) =>
      (['asc', 'desc'] as const).flatMap((sort) =>
        ([undefined, 'opened', 'closed'] as const).map((state) => [type, by, sort, state, list] as const),
      ),
    ),
  )
  /** The user with the most such projects, and the entries that say so. */
  async function member() {
    const { rows } = await client.query<{ id: string; projects: number; accesses: number }>(`
      select a.user_id as id, count(*)::integer as projects,
        (select count(*) from group_access g where g.user_id = a.user_id)::integer
          + (select count(*) from project_access o where o.user_id = a.user_id)::integer as accesses
      from group_access a join projects p on p.namespace_id = a.group_id join users u on u.id = a.user_id
      where p.visibility = 0 and not u.admin
      group by a.user_id
      order by 2 desc
      limit 1`)
    return { ...rows[0]!, caller: actor(Number(rows[0]!.id)) }
  }

  test.each(cases)('of %s by %s %s in state %s reads no more for these', async (type, by, sort, state, list) => {
    const { caller, projects, accesses } = await member()
    expect(projects).toBeGreaterThan(maximumReads + 3 * accesses)
    const listed = list(caller, { of: 'everyone' }, { ...(state && { state }) }, { by, sort })
    const filter = state ? sql`m.state = ${state}` : raw('true')
    for (const page of [1, 2]) {
      const expected = await plainPage(type, caller, `${by} ${sort}`, page, filter)
      expect(await idsOf(listed, page)).toEqual(expected)
      expect(await readsOfPage(listed, page)).toBeLessThan(maximumReads + 3 * accesses)
    }
  })
})

/** The id of the group with the most projects, those of groups below it included. */
async function largestGroup(): Promise<number> {
  const { rows } = await client.query<{ id: string }>(`
    select n.traversal_ids[1] as id from projects p join namespaces n on n.id = p.namespace_id
    where n.kind = 'group' group by 1 order by count(*) desc limit 1`)
  return Number(rows[0]!.id)
}

/** The ids of a page of noteables, by the condition of the caller's access in one part. */
async function plainPage(
  type: 'Issue' | 'MergeRequest',
  caller: Actor,
  order: string,
  page: number,
  filter = raw('true'),
) {
  const { text, values } = sql`
    select m.id
    from ${tableOf(type)} m join projects p on p.id = m.project_id
    where not p.deleting and ${visibleProjects(caller)} and ${readableRow(type, caller)} and ${filter}
    order by ${raw(`m.${order}`)}, m.id desc
    limit 21
    offset ${(page - 1) * 20}
  `
  return (await client.query<{ id: string }>(text, values)).rows.map(({ id }) => id)
}

/** How many noteables `plainPage` has pages of. */
async function plainTotal(type: 'Issue' | 'MergeRequest', caller: Caller, filter: Sql): Promise<number> {
  const { text, values } = sql`
    select count(*)
    from ${tableOf(type)} m join projects p on p.id = m.project_id
    where not p.deleting and ${visibleProjects(caller)} and ${readableRow(type, caller)} and ${filter}
  `
  return Number((await client.query(text, values)).rows[0].count)
}

/** Pages, newest first, and the total are those of the condition. */
async function expectPages(
  list: List,
  pages: readonly number[],
  type: 'Issue' | 'MergeRequest',
  caller: Actor,
  filter: Sql,
) {
  const expected = await plainTotal(type, caller, filter)
  for (const page of pages) {
    const { ids, total } = await searchedPage(list, page)
    expect(ids).toEqual((await plainPage(type, caller, 'created_at desc', page, filter)).slice(0, 20))
    expect(total).toBe(expected > countedRows ? undefined : expected)
  }
}

const idsFrom = async ({ text, values }: Statement): Promise<string[]> =>
  (await client.query<{ id: string }>(text, values)).rows.map(({ id }) => id)

/** The noteable `m` of this kind has a label of this title. */
const hasLabel = (type: 'Issue' | 'MergeRequest', title: string): Sql => sql`
  exists (
    select from ${labelsTableOf(type)} ml join labels l on l.id = ml.label_id
    where ml.${columnOf(type)} = m.id and l.title = ${title}
  )
`

async function idsOf(list: List, page: number): Promise<string[]> {
  const { text, values } = await pageOf(list, page)
  const { rows } = await client.query<{ ids: string | null }>(text, values)
  return rows[0]!.ids?.split(',') ?? []
}

describe.each(callers.slice(1) as [string, Actor][])('a page for %s has what the filters leave', (_, caller) => {
  // Labels that many have, of which two are together on some and on none; one that few issues have, and one that none has.
  const titles = [
    ['label 3'],
    ['label 3', 'label 5'],
    ['label 3', 'label 1'],
    ['rare'],
    ['LABEL 3', 'rare'],
    ['label 9'],
    ['absent'],
  ]
  const lists = [
    ['Issue', listIssues],
    ['MergeRequest', listMergeRequests],
  ] as const
  const states = [undefined, 'opened', 'closed'] as const
  const cases = lists.flatMap(([type, list]) =>
    titles.flatMap((labels) => states.map((state) => [type, labels, state, list] as const)),
  )
  test.each(cases)('of %s with the labels %s in state %s', async (type, labels, state, list) => {
    const has = labels.map((label) => hasLabel(type, label.toLowerCase()))
    const filter = and([...has, ...(state ? [sql`m.state = ${state}`] : [])])
    const listed = list(caller, { of: 'everyone' }, { labels, ...(state && { state }) }, newest)
    await expectPages(listed, [1, 2, 5], type, caller, filter)
  })

  test.each([
    ['Issue', listIssues],
    ['MergeRequest', listMergeRequests],
  ] as const)('of %s of a group with many projects', async (type, list) => {
    const group = await largestGroup()
    const set = { of: 'group', traversalIds: [group], archived: true } as const
    const inGroup = sql`p.namespace_id in (select n.id from namespaces n where n.traversal_ids[1] = ${group})`
    const filters = [{}, { state: 'closed' }, { labels: ['label 3'] }, { state: 'closed', labels: ['rare'] }] as const
    for (const filter of filters)
      for (const page of [1, 4]) {
        const { state, labels = [] }: { state?: string; labels?: readonly string[] } = filter
        const listed = list(caller, set, filter, newest)
        const ofState = state ? [sql`m.state = ${state}`] : []
        const where = and([inGroup, ...ofState, ...labels.map((label) => hasLabel(type, label))])
        const { ids, total } = await searchedPage(listed, page)
        expect(ids).toEqual((await plainPage(type, caller, 'created_at desc', page, where)).slice(0, 20))
        expect(total).toBe(await plainTotal(type, caller, where))
        const statement = await pageOf(listed, page)
        expect(await readsOfOnePlan(statement)).toBeLessThanOrEqual(1.5 * (await readsForValues(statement)))
      }
  })
})

describe.each(callers.slice(1))('for %s one plan for all values reads hardly more than one for each', (_, caller) => {
  test('of projects of a user, a source and groups, large and small, with those below and without', async () => {
    const { rows } = await client.query<{ id: string; traversal_ids: string[] }>(`
      (select n.id, n.traversal_ids from namespaces n join projects p on p.namespace_id = n.id where n.kind = 'group'
        group by n.id order by count(*) desc limit 2)
      union (select n.id, n.traversal_ids from namespaces n where n.kind = 'group' order by n.id desc limit 2)`)
    const groups = rows.flatMap(({ id, traversal_ids }) =>
      [true, false].map(
        (includeSubgroups) =>
          ({
            ...({ of: 'group', groupId: Number(id), traversalIds: traversal_ids.map(Number), shared: 'with' } as const),
            includeSubgroups,
          }) as const,
      ),
    )
    const { rows: sources } = await client.query<{ id: string }>('select id from projects order by id limit 1')
    const others = [
      { of: 'user', userId: userId(77) },
      { of: 'stars', userId: userId(77) },
      { of: 'contributions', ids: contributedTo(actor(userId(77)), userId(77)) },
      { of: 'forks', sourceId: Number(sources[0]!.id) },
    ] as const
    for (const set of [...others, ...groups])
      for (const order_by of ['name', 'last_activity_at'] as const) {
        const filters = { order_by, sort: 'desc' } as const
        await readsNoMore(listProjects(caller, set, filters, 'stamps'))
        await readsNoMore(listProjects(caller, set, { ...filters, archived: false }, 'stamps'))
      }
  })

  test.each([{ all_available: true }, { all_available: false }, { owned: true }, { min_access_level: 30 }])(
    'of groups with %o',
    async (filters) => {
      for (const order_by of ['name', 'id'] as const)
        await readsNoMore(
          listGroups(caller, { of: 'everyone' }, { owned: false, order_by, sort: 'asc', ...filters }, {}),
        )
    },
  )

  async function readsNoMore(list: List): Promise<void> {
    for (const page of [1, 3]) {
      const statement = await pageOf(list, page)
      const most = Math.max(maximumReads, 1.5 * (await readsForValues(statement)))
      expect(await readsOfOnePlan(statement)).toBeLessThanOrEqual(most)
    }
  }
})

describe.each(callers.slice(1) as [string, Actor][])('a search by %s', (_, caller) => {
  beforeAll(async () => {
    await client.query(
      `insert into notes (project_id, merge_request_id, author_id, body, discussion_id)
      select m.project_id, m.id, $1, 'What about ' || left(md5(((m.id * 7 + k) % 2000)::text), 8) || '?', md5(m.id || '.' || k) || 'deadbeef'
      from merge_requests m, generate_series(1, 2) k
      where not exists (select from notes where body like 'What about%?' and author_id = $1)`,
      [userId(3)],
    )
    await client.query(
      `insert into notes (project_id, merge_request_id, author_id, body, discussion_id)
      select m.project_id, m.id, $1, case when m.id % 100 = 0 then 'It IS' else 'So it is there' end, md5(m.id || 'it is') || 'deadbeef'
      from merge_requests m
      where m.id % 10 = 0 and not exists (select from notes where body = 'It IS')`,
      [userId(3)],
    )
    await client.query('vacuum analyze notes')
  })

  test('for comments reads a bounded number of rows, also for a text of few that was sampled, and has what matches', async () => {
    const { rows } = await client.query(
      `select (histogram_bounds::text::text[])[50] as body from pg_stats where tablename = 'notes' and attname = 'body'`,
    )
    for (const [text, most] of [
      [/about (\w+)\?/.exec(rows[0].body)![1]!, 500],
      ['What about', undefined],
      ['absent', 100],
    ] as const) {
      const list = notesWith(caller, text, raw('true'), 'everywhere')
      const { ids, reads } = await searchedPage(list, 1)
      if (most !== undefined) expect(await reads()).toBeLessThan(most)
      const plain = sql`
        select n.id
        from notes n join projects p on p.id = n.project_id
        where ${and(list.where)} and not n.system and n.body ilike ${`%${text}%`}
        order by n.id desc
        limit 20
      `
      expect(ids).toEqual(await idsFrom(plain))
    }
  })

  test('for comments whose words all have two characters reads those that equal it, not all that have the words', async () => {
    const list = notesWith(caller, 'it  is', raw('true'), 'everywhere')
    const { ids, reads } = await searchedPage(list, 1)
    expect(ids).toEqual(
      await idsFrom(sql`
        select n.id
        from notes n join projects p on p.id = n.project_id
        where ${and(list.where)} and not n.system and lower(n.body) = 'it is'
        order by n.id desc
        limit 20
      `),
    )
    expect(ids.length).toBeGreaterThan(0)
    expect(await reads()).toBeLessThan(maximumReads)
  })

  test('for a text of two characters looks it up in the index', async () => {
    for (const text of ['wh', 'Wh', 'a%', 'is'])
      for (const list of [
        notesWith(caller, text, raw('true'), 'everywhere'),
        listIssues(caller, { of: 'everyone' }, { search: { text, in: ['title', 'description'] } }, newest),
        listMergeRequests(caller, { of: 'everyone' }, { search: { text, in: ['title'] } }, newest),
        projects(caller, { search: text }),
      ])
        expect(await (await searchedPage(list, 1)).reads()).toBeLessThan(maximumReads)
  })

  test('for comments of a group reads those of its projects, not all with a word that most have', async () => {
    const { rows } = await client.query<{ id: string; count: string }>(`
      select n.traversal_ids[1] as id, count(*)
      from notes c join projects p on p.id = c.project_id join namespaces n on n.id = p.namespace_id
      where n.kind = 'group' and c.body like 'What about%'
      group by 1
      order by count(*)`)
    for (const { id, count } of [rows[0]!, rows.at(-1)!])
      for (const text of ['What about', 'wh']) {
        const list = notesWith(caller, text, projectsIn({ of: 'group', id: Number(id) }), 'group')
        const found = sql`
          from notes n join projects p on p.id = n.project_id
          where ${and(list.where)} and not n.system and n.body ilike ${text === 'wh' ? text : `%${text}%`}
        `
        const { rows } = await client.query(sql`select count(*) ${found}`)
        for (const page of [1, 3]) {
          const { ids, total, reads } = await searchedPage(list, page)
          expect(ids).toEqual(
            await idsFrom(sql`select n.id ${found} order by n.id desc limit 20 offset ${20 * (page - 1)}`),
          )
          expect(total).toBe(Number(rows[0].count))
          // Whether many match is asked first, of all 33,000.
          expect(await reads()).toBeLessThan(35_000 + 25 * Number(count))
        }
      }
  })

  const kinds = [
    ['Issue', 'issues', listIssues],
    ['MergeRequest', 'merge_requests', listMergeRequests],
  ] as const
  const searched = (list: (typeof kinds)[number][2], text: string, labels?: readonly string[]): List =>
    list(
      caller,
      { of: 'everyone' },
      { search: { text, in: ['title', 'description'] }, ...(labels && { labels }) },
      newest,
    )

  test.each(kinds)(
    'for %s reads a bounded number of rows, also for a text of few that was sampled',
    async (type, table, list) => {
      const { rows } = await client.query(
        `select (histogram_bounds::text::text[])[50] as title from pg_stats where tablename = $1 and attname = 'title'`,
        [table],
      )
      // Of a hundred sampled titles one has it: PostgreSQL expects it in each hundredth title.
      const text = /what (\w+) does/.exec(rows[0].title)![1]!
      const matching = await plainTotal(type, { ...caller, admin: true }, sql`m.title like ${`%${text}%`}`)
      expect(matching).toBeGreaterThan(0)
      expect(matching).toBeLessThan(10)
      expect(await (await searchedPage(searched(list, text), 1)).reads()).toBeLessThan(500)
    },
  )

  test('for projects reads a bounded number of rows, also for a text of few that was sampled', async () => {
    const { rows } = await client.query(
      `select (histogram_bounds::text::text[])[50] as description from pg_stats where tablename = 'projects' and attname = 'description'`,
    )
    const text = /work of (\w+),/.exec(rows[0].description)![1]!
    const { rows: matching } = await client.query('select from projects where description like $1', [`%${text}%`])
    expect(matching.length).toBe(10)
    expect(await (await searchedPage(projects(caller, { search: text }), 1)).reads()).toBeLessThan(500)
  })

  // In all names, in all descriptions, in some names, in few descriptions, in none.
  test.each(['project', 'does the', 'project-1', 'ab12', 'absent'])(
    'of projects for "%s" has what matches',
    async (text) => {
      const pattern = text.split(' ').map((term) => `%${term}%`)
      for (const page of [1, 3]) {
        const { ids } = await searchedPage(projects(caller, { search: text }), page)
        const plain = sql`
        select p.id
        from projects p
        where not p.deleting and ${visibleProjects(caller)}
          and concat_ws(' ', p.path, p.description) ilike all(${pattern}::text[])
        order by p.created_at desc, p.id desc
        limit 20
        offset ${(page - 1) * 20}
      `
        expect(ids).toEqual(await idsFrom(plain))
      }
    },
  )

  // In all names, in some, in none.
  test.each(['group', 'group-12', 'absent'])('of groups for "%s" has what matches', async (text) => {
    const wanted = { search: text, order_by: 'name', sort: 'asc', owned: false, all_available: true } as const
    const list = listGroups(caller, { of: 'everyone' }, wanted, { statistics: false })
    for (const page of [1, 3]) {
      const { ids, total, reads } = await searchedPage(list, page)
      const plain = sql`
        from namespaces g
        where g.kind = 'group' and not g.deleting and ${visibleGroups(caller)} and (g.name ilike ${`%${text}%`} or g.path ilike ${`%${text}%`})
      `
      expect(ids).toEqual(
        await idsFrom(sql`select g.id ${plain} order by g.name, g.id limit 20 offset ${(page - 1) * 20}`),
      )
      expect(total).toBe(Number((await idsFrom(sql`select count(*) as id ${plain}`))[0]))
      if (text === 'absent') expect(await reads()).toBeLessThan(100)
    }
  })

  // In all titles, in all descriptions, in few titles, in none.
  test.each(
    kinds.flatMap(([type, , list]) =>
      ['what', 'wrong before', 'what abc', 'absent'].map((text) => [type, text, list] as const),
    ),
  )('of %s for "%s" has what matches, and their number', async (type, text, list) => {
    const pattern = text.split(' ').map((term) => `%${term}%`)
    const matches = sql`(m.title ilike all(${pattern}::text[]) or m.description ilike all(${pattern}::text[]))`
    for (const page of [1, 3]) {
      const { ids, total } = await searchedPage(searched(list, text), page)
      expect(ids).toEqual((await plainPage(type, caller, 'created_at desc', page, matches)).slice(0, 20))
      expect(total).toBe(await plainTotal(type, caller, matches))
    }
  })

  test.each(kinds.flatMap(([type, , list]) => ['what', 'what abc'].map((text) => [type, text, list] as const)))(
    'of %s with a label for "%s" has what matches, and their number',
    async (type, text, list) => {
      const pattern = text.split(' ').map((term) => `%${term}%`)
      const matches = and([sql`m.title ilike all(${pattern}::text[])`, hasLabel(type, 'label 3')])
      const { ids, total } = await searchedPage(searched(list, text, ['label 3']), 1)
      expect(ids).toEqual((await plainPage(type, caller, 'created_at desc', 1, matches)).slice(0, 20))
      expect(total).toBe(await plainTotal(type, caller, matches))
    },
  )
})

/** The statement that counts the rows of a list. */
async function totalStatement(list: List): Promise<Statement> {
  const statements: Statement[] = []
  const row = async (shape: Shape, statement: Statement) => {
    if ('found' in shape) return world.db.row(shape, statement)
    if ('total' in shape) statements.push(statement)
    return { total: 0, ids: '1,2' }
  }
  const db = { snapshotCache: { row, byId: async () => new Map(), expects: () => false } } as unknown as Db
  await fetchPage(db, {}, list, { page: 1, perPage: 1, keyset: false })
  return statements[0]!
}

/** What a statement reads with the plan that is made for any values, with which the service has it read. */
async function readsOfOnePlan(statement: Statement): Promise<number> {
  expect(statement.onePlan).toBeDefined()
  return readsOf(await onePlanOf(statement))
}

/** The plan that is made for any values, with what it read. */
async function onePlanOf({ text, values }: Statement): Promise<Plan> {
  await client.query('set plan_cache_mode = force_generic_plan')
  await client.query(`prepare one_plan as ${text}`)
  const given = values.map((value) => pg.escapeLiteral(Array.isArray(value) ? `{${value}}` : String(value))).join()
  const { rows } = await client.query(`explain (analyze, timing off, format json) execute one_plan (${given})`)
  await client.query('deallocate one_plan')
  await client.query('reset plan_cache_mode')
  return rows[0]['QUERY PLAN'][0].Plan
}

/** How the indexes are read whose names begin like this, of which the parts of a plan are that run. */
const scansOf = (plan: Plan, index: string): string[] => [
  ...(plan['Index Name']?.startsWith(index) && plan['Actual Loops'] > 0 ? [plan['Node Type']] : []),
  ...(plan.Plans ?? []).flatMap((child) => scansOf(child, index)),
]

/** How a plan reads a table where it reads more than a thousand rows of it. */
const largeReads = (plan: Plan, table: string): string[] => [
  ...(plan['Relation Name'] === table && readsOf({ ...plan, Plans: [] }) > 1_000 ? [plan['Node Type']] : []),
  ...(plan.Plans ?? []).flatMap((child) => largeReads(child, table)),
]

/** The tables that a plan reads as a whole. */
const wholeReads = (plan: Plan): string[] => [
  ...(plan['Node Type'] === 'Seq Scan' && plan['Actual Loops'] > 0 ? [plan['Relation Name']!] : []),
  ...(plan.Plans ?? []).flatMap(wholeReads),
]

describe('with one plan for all values', () => {
  let issue: Noteable
  const author = userId(77)

  beforeAll(async () => {
    const { rows } = await client.query(`
      select m.id from issues m where m.audience = 20 order by m.id limit 1`)
    issue = { type: 'Issue', id: Number(rows[0].id) } as Noteable
    // Many of one issue, and some of all others.
    await client.query(
      `
      insert into notes (project_id, issue_id, author_id, body, discussion_id, created_at)
      select m.project_id, m.id, $1, 'x', case
          when m.id = $2 and k > 4000 then repeat('0', 40)
          else left(encode(sha256((m.id || '.' || k)::bytea), 'hex'), 40)
        end, now() - k * interval '1 minute'
      from issues m, generate_series(1, case when m.id = $2 then 5000 else 2 end) k`,
      [author, issue.id],
    )
    await client.query('vacuum analyze notes, audience_counts')
  })

  test.each([
    ['notes of an issue', () => notesOf(issue, null, { order_by: 'created_at', sort: 'asc' })],
    ['discussions of an issue', () => discussionsOf(issue, null)],
    ['notes of a discussion', () => notesOfDiscussion(issue, null, '0'.repeat(40))],
  ])('a page of 20 %s reads no more than with a plan for its values', async (_, list) => {
    for (const page of [1, 3]) {
      const paged = { ...list(), key: list().key ?? raw('n.id') }
      const statement = await pageOf(paged, page)
      const reads = await readsOfOnePlan(statement)
      expect(reads).toBeGreaterThan(0)
      expect(reads).toBeLessThanOrEqual(1.5 * (await readsForValues(statement)))
    }
  })

  test('a page of 20 notes of an issue reads a bounded number of rows', async () => {
    for (const page of [1, 3])
      expect(
        await readsOfOnePlan(await pageOf(notesOf(issue, null, { order_by: 'created_at', sort: 'asc' }), page)),
      ).toBeLessThanOrEqual(maximumReads)
  })

  test.each(callers.slice(1, 3) as [string, Actor][])(
    'the total of all issues for %s reads no issue of others',
    async (_, caller) => {
      const { rows } = await client.query(memberships, [caller.id])
      for (const filters of [{}, { state: 'opened' }] as const) {
        const reads = await readsOfOnePlan(
          await totalStatement(listIssues(caller, { of: 'everyone' }, filters, newest)),
        )
        expect(reads).toBeLessThanOrEqual(maximumReads + readsOfMembership * Number(rows[0].count))
      }
    },
  )
})

test.each([
  ['issues_project_', 'created_at', listIssues],
  ['issue_updates_project', 'updated_at', listIssues],
  ['merge_requests_project_', 'created_at', listMergeRequests],
  ['merge_request_updates_project', 'updated_at', listMergeRequests],
] as const)('rows of %s by %s that a member of projects may read are found in it alone', async (index, by, list) => {
  const member = actor(userId(313))
  for (const state of [undefined, 'opened', 'closed'] as const) {
    const filters = state && { state }
    // Of the first pages, those before the last open row may be found in the order.
    const statement = await pageOf(list(member, { of: 'everyone' }, { ...filters }, { by, sort: 'desc' }), 5)
    const scans = scansOf(await onePlanOf(statement), index)
    expect(scans.length).toBeGreaterThan(0)
    expect(new Set(scans)).toEqual(new Set(['Index Only Scan']))
  }
})

describe.each([
  ['issues', 'Issue', listIssues],
  ['merge_requests', 'MergeRequest', listMergeRequests],
] as const)('%s of a project with a label', (table, type, list) => {
  test.each([
    ['label 3', 'label 3'],
    ['rare', 'rare'],
    ['everywhere', 'Everywhere'],
  ] as const)('%s: a page and the total read those of the project only, or of a rare label', async (label, title) => {
    const { rows } = await client.query(
      `select project_id as id, count(*) from ${table} group by 1 order by count(*) desc limit 1`,
    )
    const [{ id, count }] = rows
    for (const state of [undefined, 'opened'] as const) {
      const filters = { labels: [label], ...(state && { state }) }
      const listed = list(actor(userId(77)), { of: 'project', id: Number(id) }, filters, newest)
      const { ids, total, reads } = await searchedPage(listed, 1)
      const filter = and([
        sql`m.project_id = ${Number(id)}`,
        hasLabel(type, title),
        ...(state ? [sql`m.state = ${state}`] : []),
      ])
      expect(ids).toEqual((await plainPage(type, actor(userId(77)), 'created_at desc', 1, filter)).slice(0, 20))
      expect(total).toBe(await plainTotal(type, actor(userId(77)), filter))
      // Some for each of less than a thousand with the label anywhere, or for each row of the project.
      expect(await reads()).toBeLessThanOrEqual(4 * maximumReads + 8 * Number(count))
    }
  })
})

const closedWithout = (type: 'Issue' | 'MergeRequest'): string =>
  `m.state = 'closed' and not exists (select from ${assigneesTableOf(type).text} a where a.${columnOf(type).text} = m.id)`

describe('a member of most projects', () => {
  const member = actor(userId(500))
  beforeAll(async () => {
    await client.query(
      `insert into group_access (user_id, group_id, level, expires_on)
      select $1, id, 30, 'infinity' from namespaces where kind = 'group' on conflict do nothing`,
      [member.id],
    )
    await client.query('set session_replication_role = replica')
    await client.query(`
      insert into issues (iid, project_id, title, author_id, confidential, audience, created_at, updated_at)
      select 1000000 + k, p.id, 'Issue', 1, k = 1,
        case when k = 1 then 0 else audience_of_merge_requests(p.visibility, p.issues_access_level, p.deleting) end,
        timestamptz '2020-01-01' + (hashint8(p.id * 6 + k) % 1000000) * interval '1 minute',
        timestamptz '2022-01-01' + (hashint8(p.id * 7 + k) % 1000000) * interval '1 minute'
      from projects p, generate_series(1, 5) k`)
    await client.query(`
      insert into issue_updates (id, project_id, author_id, state, confidential, audience, updated_at)
      select id, project_id, author_id, state, confidential, audience, updated_at from issues on conflict do nothing`)
    await client.query(`
      with common as (
        insert into labels (namespace_id, title, color)
        select id, 'common', '#336699' from namespaces where kind = 'group' order by id limit 1 returning id
      )
      insert into issue_labels (issue_id, label_id, noteable_state, noteable_audience)
      select m.id, common.id, m.state, m.audience from issues m, common where m.iid > 1000000`)
    await client.query('delete from issue_counts')
    await client.query(`
      insert into issue_counts (project_id, opened, confidential, closed, closed_confidential)
      select project_id, count(*) filter (where state = 'opened'), count(*) filter (where state = 'opened' and confidential),
        count(*) filter (where state = 'closed'), count(*) filter (where state = 'closed' and confidential)
      from issues group by project_id`)
    await client.query(`delete from audience_counts where type = 'Issue'`)
    await client.query(`
      insert into audience_counts (type, audience, state, number)
      select 'Issue', audience, state, count(*) from issues where audience > 0 group by audience, state`)
    await client.query('set session_replication_role = origin')
    await client.query(
      'vacuum analyze group_access, issues, issue_updates, issue_labels, issue_counts, audience_counts',
    )
  })

  const kinds = [
    ['issues', 'Issue', listIssues],
    ['merge requests', 'MergeRequest', listMergeRequests],
  ] as const
  test.each(
    kinds.flatMap(([name, type, list]) =>
      (['created_at', 'updated_at'] as const).flatMap((by) =>
        (['asc', 'desc'] as const).map((sort) => [`${name} by ${by} ${sort}`, type, list, by, sort] as const),
      ),
    ),
  )('gets %s, the first without reading all of them', async (_, type, list, by, sort) => {
    const listed = list(member, { of: 'everyone' }, {}, { by, sort })
    const all = await client.query<{ id: string }>(`
      select m.id from ${tableOf(type).text} m join projects p on p.id = m.project_id
        join group_access a on a.group_id = p.namespace_id and a.user_id = ${member.id}
      where not p.deleting`)
    expect(all.rows.length).toBeGreaterThan(5_000)
    if (type === 'Issue') expect(await readsOfPage(listed, 1)).toBeLessThan(all.rows.length / 2)
    for (const page of [1, 3, 40])
      expect(await idsOf(listed, page)).toEqual(await plainPage(type, member, `${by} ${sort}`, page))
  })

  test.each(
    kinds.flatMap(([name, type, list]) =>
      (
        [
          ['a number that one has', { iids: [987_654] }, 'm.iid = 987654'],
          ['a number that few have', { iids: [40, 41] }, 'm.iid in (40, 41)'],
          ['no assignee, closed', { assignee: 'None', state: 'closed' }, closedWithout(type)],
        ] as const
      ).map(([filter, filters, condition]) => [name, filter, type, list, filters, condition] as const),
    ),
  )(
    'gets %s with %s, and their number, without looking up each project',
    async (_, __, type, list, filters, condition) => {
      const { rows } = await client.query(
        'select count(*) from projects p join group_access a on a.group_id = p.namespace_id and a.user_id = $1',
        [member.id],
      )
      const { rows: sizes } = await client.query('select relpages from pg_class where relname = $1', [
        tableOf(type).text,
      ])
      const listed = list(member, { of: 'everyone' }, filters, newest)
      for (const page of [1, 3]) {
        const { ids, total, pages } = await searchedPage(listed, page)
        expect(ids).toEqual((await plainPage(type, member, 'created_at desc', page, raw(condition))).slice(0, 20))
        expect(total).toBe(await plainTotal(type, member, raw(condition)))
        if ('iids' in filters)
          // To look up a project and its noteables takes six pages.
          expect(await pages()).toBeLessThan(2 * (Number(rows[0].count) + 2 * sizes[0].relpages) + 2_000)
      }
    },
  )

  test.each(
    kinds.flatMap(([name, type, list]) =>
      (
        [
          ['label 3', undefined],
          ['label 9', 'opened'],
          ['rare', undefined],
        ] as const
      ).map(([label, state]) => [name, label, state, type, list] as const),
    ),
  )('gets %s with the label %s in state %s, and their number', async (_, label, state, type, list) => {
    const filter = and([hasLabel(type, label), ...(state ? [sql`m.state = ${state}`] : [])])
    const listed = list(member, { of: 'everyone' }, { labels: [label], ...(state && { state }) }, newest)
    await expectPages(listed, [1, 3], type, member, filter)
  })

  test.each(callers.slice(1) as [string, Actor][])(
    'has a label that is on more issues than are kept in a hash table; %s gets those that they may read',
    async (_, caller) => {
      for (const reader of [member, caller])
        for (const state of [undefined, 'opened'] as const) {
          const filter = and([hasLabel('Issue', 'common'), ...(state ? [sql`m.state = ${state}`] : [])])
          const listed = listIssues(reader, { of: 'everyone' }, { labels: ['common'], ...(state && { state }) }, newest)
          await expectPages(listed, [1, 4], 'Issue', reader, filter)
        }
    },
  )

  test.each([
    ['a member', member],
    ['an administrator', { ...actor(1), admin: true }],
  ])('statistics of issues with labels for %s read less than a page for each issue', async (_, reader) => {
    const issues = Number((await client.query('select count(*) from issues')).rows[0].count)
    for (const labels of [['common'], ['label 3'], ['label 3', 'LABEL 5'], ['label 3', 'common'], ['absent']]) {
      const { counts, pages } = await statisticsOf(reader, { labels })
      const has = labels.map((label) => hasLabel('Issue', label.toLowerCase()))
      const numberOf = (state: string) => plainTotal('Issue', reader, and([...has, sql`m.state = ${state}`]))
      expect(counts).toMatchObject({ opened: await numberOf('opened'), closed: await numberOf('closed') })
      expect(pages).toBeLessThan(issues)
    }
  })

  test.each([
    ['a member', member],
    ['an administrator', { ...actor(1), admin: true }],
  ])('statistics of issues without a label for %s do not ask each issue for its labels', async (_, reader) => {
    const issues = Number((await client.query('select count(*) from issues')).rows[0].count)
    for (const labels of [['common'], ['label 3'], ['label 3', 'LABEL 5'], ['rare'], ['absent']]) {
      const { counts, pages } = await statisticsOf(reader, { not: { labels } })
      const has = labels.map((label) => hasLabel('Issue', label.toLowerCase()))
      const numberOf = async (state: string) =>
        Math.min(100_000, await plainTotal('Issue', reader, and([sql`not (${and(has)})`, sql`m.state = ${state}`])))
      expect(counts).toMatchObject({ opened: await numberOf('opened'), closed: await numberOf('closed') })
      // Asking each issue reads more than three pages of each. The projects of the member are looked up one by one.
      expect(pages).toBeLessThan(reader.admin ? issues / 4 : 1.5 * issues)
    }
  })

  test.each([
    ['a user with few projects', actor(userId(77))],
    ['an administrator', { ...actor(1), admin: true }],
  ])(
    'statistics of issues without a milestone, a date or a weight for %s are exact, and those open to all are counted in an index',
    async (_, reader) => {
      for (const [filters, condition] of [
        [{ milestone: 'None' }, 'm.milestone_id is null'],
        [{ due: '0' }, 'm.due_date is null'],
        [{ weight: 'None' }, 'm.weight is null'],
        [{ confidential: false }, 'not m.confidential'],
        [{ not: { milestone: { title: 'absent' } } }, 'true'],
      ] as const) {
        const { counts, plan } = await statisticsOf(reader, filters)
        const numberOf = async (state: string) =>
          Math.min(100_000, await plainTotal('Issue', reader, sql`${raw(condition)} and m.state = ${state}`))
        expect(counts).toMatchObject({ opened: await numberOf('opened'), closed: await numberOf('closed') })
        // All issues of an administrator are read from the table: they have no descriptions here, so an index has no fewer pages.
        if (!reader.admin) expect(new Set(largeReads(plan, 'issues'))).toEqual(new Set(['Index Only Scan']))
      }
    },
  )

  describe('with filters that many meet', () => {
    const readers: readonly (readonly [string, Actor])[] = [
      ['the member', member],
      ['a user with few projects', actor(userId(77))],
      ['an administrator', { ...actor(1), admin: true }],
    ]
    const wanted = readers.flatMap(([who, reader]) =>
      (
        [
          ['due_date', { state: 'opened' }, `m.state = 'opened'`],
          ['weight', { state: 'opened' }, `m.state = 'opened'`],
          ['milestone_due', {}, 'true'],
          ['created_at', { assignee: 'Any' }, 'exists (select from issue_assignees a where a.issue_id = m.id)'],
          [
            'updated_at',
            { assignee: 'Any', state: 'opened' },
            `m.state = 'opened'
            and exists (select from issue_assignees a where a.issue_id = m.id)`,
          ],
          ['created_at', { milestone: 'upcoming' }, 'm.milestone_id is not null'],
        ] as const
      ).map(([by, filters, condition]) => [by, JSON.stringify(filters), who, filters, condition, reader] as const),
    )

    beforeAll(async () => {
      await client.query('set session_replication_role = replica')
      // What is closed comes first in these orders.
      await client.query(`update issues set due_date = '2020-01-01', weight = 1 where state = 'closed'`)
      await client.query(
        'insert into issue_assignees (issue_id, user_id) select id, $1 from issues on conflict do nothing',
        [userId(901)],
      )
      await client.query(`update issues set author_id = $1 where id % 300 = 5`, [member.id])
      const { rows } = await client.query(`
        insert into milestones (iid, namespace_id, title, state, due_date)
        select 900, id, 'Next', 'active', current_date + 2 from namespaces where kind = 'group' order by id limit 1 returning id`)
      await client.query('update issues set milestone_id = $1, milestone_due = current_date + 2 where id % 2 = 0', [
        rows[0].id,
      ])
      await client.query('update issues set milestone_id = null, milestone_due = null where id % 2 = 1')
      await client.query('update issue_updates u set author_id = m.author_id from issues m where m.id = u.id')
      await client.query('set session_replication_role = origin')
      await client.query('vacuum analyze issues, issue_updates, issue_assignees')
    })

    test.each(wanted)('pages by %s with %s read few of them for %s', async (by, _, __, filters, condition, reader) => {
      const list = listIssues(reader, { of: 'everyone' }, filters, { by, sort: 'asc' })
      const { rows } = await client.query('select count(*) from issues')
      for (const page of [1, 3]) {
        const { ids, reads } = await searchedPage(list, page)
        expect(ids).toEqual((await plainPage('Issue', reader, `${by} asc`, page, raw(condition))).slice(0, 20))
        expect(ids).toHaveLength(20)
        expect(await readsOfPage(list, page)).toBeLessThan(Number(rows[0].count) / 4)
        // The total counts up to 10,001 of each part; 5,000 are looked at to see whether they are few.
        expect(await reads()).toBeLessThan(Number(rows[0].count) * 1.5)
      }
    })

    test('issues of an author are read with their projects, not with all that the caller may see', async () => {
      const list = listIssues(member, { of: 'everyone' }, { scope: 'created_by_me' }, newest)
      const { rows } = await client.query('select count(*) from issues where author_id = $1', [member.id])
      expect(Number(rows[0].count)).toBeGreaterThan(100)
      expect(await readsOfPage(list, 1)).toBeLessThan(8 * Number(rows[0].count) + 5_000)
    })

    test('a text that few issues of a large group have is looked up', async () => {
      const group = await largestGroup()
      const { rows } = await client.query(
        'select count(*) from issues m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id where n.traversal_ids[1] = $1',
        [group],
      )
      expect(Number(rows[0].count)).toBeGreaterThan(3_000)
      await client.query(
        `update issues set title = 'Quixotic' where project_id in (
        select p.id from projects p join namespaces n on n.id = p.namespace_id where n.traversal_ids[1] = $1
      ) and id % 500 = 3`,
        [group],
      )
      const search = { text: 'quixotic', in: ['title'] } as const
      const set = { of: 'group', traversalIds: [group], archived: true } as const
      for (const [, reader] of readers) {
        const { ids, reads } = await searchedPage(listIssues(reader, set, { search }, newest), 1)
        const filter = sql`m.title = 'Quixotic' and p.namespace_id in (select n.id from namespaces n where n.traversal_ids[1] = ${group})`
        expect(ids).toEqual((await plainPage('Issue', reader, 'created_at desc', 1, filter)).slice(0, 20))
        expect(await reads()).toBeLessThan(Number(rows[0].count))
      }
    })

    test.each(['created_at', 'weight'] as const)(
      'issues of a group by %s that were updated after a time do not sort all',
      async (by) => {
        const group = await largestGroup()
        const set = { of: 'group', traversalIds: [group], archived: true } as const
        const after = await client.query('select updated_at from issues order by updated_at desc offset 6000 limit 1')
        const updatedAfter = after.rows[0].updated_at
        const list = listIssues(member, set, { updatedAfter }, { by, sort: 'asc' })
        const { rows } = await client.query('select count(*) from issues')
        const filter = sql`
        m.updated_at >= ${updatedAfter} and p.namespace_id in (select n.id from namespaces n where n.traversal_ids[1] = ${group})
      `
        const { ids } = await searchedPage(list, 1)
        expect(ids).toEqual((await plainPage('Issue', member, `${by} asc`, 1, filter)).slice(0, 20))
        expect(await readsOfPage(list, 1)).toBeLessThan(Number(rows[0].count) * 0.75)
      },
    )

    test.each([{}, { membership: true }, { visibility: 'private' }] as const)(
      'projects with %j are read in the order',
      async (filters) => {
        expect(await readsOfPage(projects(member, filters), 1)).toBeLessThan(4_000)
      },
    )
  })
})

test.each([
  ['issues', listIssues, 'closed'],
  ['merge_requests', listMergeRequests, 'merged'],
] as const)(
  'an administrator gets the oldest open %s without reading older ones of another state',
  async (table, list, other) => {
    const admin = { ...actor(1), admin: true }
    await client.query('begin')
    try {
      await client.query('set local session_replication_role = replica')
      await client.query(`update ${table} set state = '${other}' where created_at < (
      select percentile_disc(0.9) within group (order by created_at) from ${table})`)
      await client.query(`analyze ${table}`)
      for (const page of [1, 3]) {
        const statement = await pageOf(
          list(admin, { of: 'everyone' }, { state: 'opened' }, { by: 'created_at', sort: 'asc' }),
          page,
        )
        expect(await readsForValues(statement)).toBeLessThan(maximumReads)
      }
    } finally {
      await client.query('rollback')
    }
  },
)

test.each(callers)(
  'labels of a group with many projects count issues and merge requests for %s without looking each up',
  async (_, caller) => {
    const group = await largestGroup()
    const place = { holder: { of: 'group', id: group } as ProjectOrGroupHolder, caller }
    const list = labelsOf(place, { ancestors: false, counts: true, search: undefined })
    const { text, values } = pageStatement(list, and(list.where), 20, 0)
    const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) ${text}`, values)
    const { rows: counted } = await client.query(text, values)
    const { rows: sizes } = await client.query(
      `select count(*) as projects,
        (select count(*) from labels l join issue_labels ml on ml.label_id = l.id where l.namespace_id = $1)
          + (select count(*) from labels l join merge_request_labels ml on ml.label_id = l.id where l.namespace_id = $1) as entries
      from projects p join namespaces n on n.id = p.namespace_id
      where n.traversal_ids[1] = $1`,
      [group],
    )
    const [projects, entries] = [Number(sizes[0].projects), Number(sizes[0].entries)]
    expect(entries).toBeGreaterThan(4 * projects)
    // Of each project some pages of two indexes, and the projects that the caller may see.
    expect(pagesOf(rows[0]['QUERY PLAN'][0].Plan)).toBeLessThan(14 * projects + entries + 2_000)
    const ofLabel = (id: string, state: string) => sql`
      m.state = ${state} and exists (select from issue_labels ml where ml.issue_id = m.id and ml.label_id = ${id})
    `
    // Unlike real labels of a group, these are on issues of all projects.
    const isElsewhere = (name: string) => name === 'common' || name === 'rare'
    for (const { id, open_issues, closed_issues } of counted.filter(({ name }) => !isElsewhere(name))) {
      const numberOf = async (state: string) => String(await plainTotal('Issue', caller, ofLabel(id, state)))
      expect([open_issues, closed_issues]).toEqual([await numberOf('opened'), await numberOf('closed')])
    }
    expect(counted.some(({ open_issues }) => Number(open_issues) > 0)).toBe(caller !== null)
  },
)

test('statistics of the installation read neither issues nor comments', async () => {
  const statements: Statement[] = []
  const row = async (_: Shape, statement: Statement) => void statements.push(statement)
  await countEverything({ row } as unknown as Db).catch(() => {})
  const { text, values } = statements[0]!
  const { rows } = await client.query(`explain (format json) ${text}`, values)
  const tables = tableNamesOf(rows[0]['QUERY PLAN'][0].Plan)
  expect(tables).toContain('comment_counts')
  for (const table of ['issues', 'notes']) expect(tables).not.toContain(table)
})

test('a late page of namespaces counts the members of its own groups only', async () => {
  const list = namespacesOf({ ...actor(1), admin: true }, { owned_only: false })
  const { rows } = await client.query('select count(*) from namespaces where not deleting')
  const skipped = Number(rows[0].count) - 20
  const statement = pageStatement(list, and(list.where), 20, skipped)
  // Groups are the last. Those that are skipped are read, but not what they show.
  expect(await readsForValues(statement)).toBeLessThan(2 * skipped + 20 * 100)
})

test('the commits of a push are looked up by their ids, however many merge requests the project has', async () => {
  const { rows } = await client.query(
    'select project_id, count(*) as number from merge_requests group by project_id order by number desc limit 1',
  )
  const [largest] = rows
  expect(Number(largest.number)).toBeGreaterThan(400)
  const commits = await client.query<{ oid: Oid }>(
    'select c.oid from merge_request_commits c join merge_requests m on m.diff_id = c.diff_id where m.project_id = $1 limit 3',
    [largest.project_id],
  )
  let statement: Statement | undefined
  const rowsOf = async (_: Shape, asked: Statement) => {
    statement = asked
    return []
  }
  const db = { rows: rowsOf } as unknown as Db
  const oids = commits.rows.map(({ oid }) => oid)
  await broughtByMergeRequests(db, Number(largest.project_id), 'main', oids)
  expect(readsOf(await onePlanOf(statement!))).toBeLessThan(50)
})

describe('a page after others computes what its own rows show only, for', () => {
  const project = { of: 'project', id: projectId(1) } as const
  const tags = { tags: true, tags_count: true }
  const admin = { ...actor(1), admin: true }
  const lists: (readonly [string, List])[] = [
    ['images of a project', repositoriesOf(project.id, tags)],
    ['deleted images of a project', deletedRepositoriesOf(project.id, tags, 7)],
    ['images of a group', repositoriesBelow(admin, groupId(1), tags)],
    ['boards', boardsOf(project)],
    ['deploy keys', allDeployKeys(false)],
    ['approval rules', rulesOf(project, admin)],
    ['personal access tokens', tokenList(admin, { search: 'limited' })],
  ]

  test.each(lists)('%s', async (_, list) => {
    const { text, values } = pageStatement(list, and(list.where), 2, 5)
    await client.query('begin')
    try {
      await addShown()
      const { rows } = await client.query(`explain (analyze, timing off, format json) ${text}`, values)
      const plan: Plan = rows[0]['QUERY PLAN'][0].Plan
      expect(plan['Actual Rows']).toBe(2)
      expect(runsOfSubqueries(plan)).toBe(2)
    } finally {
      await client.query('rollback')
    }
  })

  /** Seven of each. */
  async function addShown(): Promise<void> {
    const each = 'from generate_series(1, 7) as number'
    const { id } = project
    await client.query(`insert into container_repositories (project_id, name) select ${id}, number ${each}`)
    await client.query(
      `insert into container_repositories (project_id, name, deleted_at) select ${id}, number, now() ${each}`,
    )
    await client.query(`insert into boards (project_id, name) select ${id}, number ${each}`)
    await client.query(
      `insert into ssh_keys (title, key, fingerprint, fingerprint_sha256) select number, number, number, number ${each}`,
    )
    await client.query(
      `insert into approval_rules (project_id, name, rule_type, approvals_required) select ${id}, number, 'regular', 1 ${each}`,
    )
    await client.query(`
      update access_tokens set name = 'limited', limited = true
      where id in (select id from access_tokens where kind = 'personal' order by id limit 7)`)
  }
})

/** How often that subquery of the columns runs which runs most often. */
const runsOfSubqueries = (plan: Plan): number =>
  Math.max(
    plan['Parent Relationship'] === 'SubPlan' ? plan['Actual Loops'] : 0,
    ...(plan.Plans ?? []).map(runsOfSubqueries),
  )

test('a text that most of 800,000 rows have is known to be very common from a sample of them', async () => {
  await client.query(`
    create temporary table texts as
    select number as id, case when number % 20 = 0 then 'rare' when number = 7 then 'unique' else 'common' end as body
    from generate_series(1, 800000) as number`)
  const search = async (text: string) => {
    const statements: Statement[] = []
    const row = async (_: Shape, statement: Statement) => {
      statements.push(statement)
      const { rows } = await client.query(statement.text, statement.values as unknown[])
      return { found: Number(rows[0].found), ids: rows[0].ids }
    }
    const from = raw('from texts t')
    const walked = (range: Sql) => sql`from (select t.id, t.body from texts t ${range}) as t`
    const matching = { table: raw('texts t'), key: raw('t.id'), condition: sql`t.body = ${text}`, isSlow: true, walked }
    const list: List = { type: 'Text', from, key: raw('t.id'), where: [], matching, order: [] }
    const found = await prepared({ snapshotCache: { row } } as unknown as Db, list)
    return { found, reads: await readsForValues(statements[0]!) }
  }
  const common = await search('common')
  expect(common.reads).toBeLessThan(2_000)
  expect(common.found.parts).toMatchObject([{ where: { text: 't.body = $1' } }])
  expect(common.found.parts![0].few).toBeUndefined()
  expect((await search('rare')).found.parts).toMatchObject([{ where: { text: 't.body = $1' } }])
  expect((await search('unique')).found).toMatchObject({ few: 1000, where: [{ values: [[7]] }] })
  await client.query('drop table texts')
})

test('a page that is looked for in two slices of the order is not filled from the second before the first was walked far enough', async () => {
  await client.query('create table sliced (id bigint primary key, kind text, place integer)')
  await client.query(
    `insert into sliced select n, case when n <= 10000 then 'a' else 'b' end, n from generate_series(1, 20000) n`,
  )
  await client.query('create index on sliced (kind, place)')
  const wanted = raw('s.id % 400 = 0')
  const list: List = {
    type: 'Row',
    from: raw('from sliced s'),
    select: raw('select s.id from sliced s'),
    key: raw('s.id'),
    where: [],
    slices: [raw(`s.kind = 'a'`), raw(`s.kind = 'b'`)],
    parts: [
      {
        where: wanted,
        few: true,
        crowded: {
          when: () => raw('true'),
          from: (range: Sql) => sql`from (select s.id, s.kind, s.place from sliced s where true ${range}) as s`,
          where: wanted,
          // 2,048 rows of each, of which five are wanted.
          among: 64,
        },
      },
    ],
    order: [
      { by: raw('s.place'), direction: 'asc' },
      { by: raw('s.id'), direction: 'asc' },
    ],
  }
  const numbers = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => String((from + n) * 400))
  expect(await idsFrom(pageStatement(list, raw('true'), 3, 0))).toEqual(numbers(1, 3))
  expect(await idsFrom(pageStatement(list, raw('true'), 8, 0))).toEqual(numbers(1, 8))
  expect(await idsFrom(pageStatement(list, raw('true'), 8, 20))).toEqual(numbers(21, 28))
  await client.query('drop table sliced')
})

/** Statistics of all issues that a caller may read and that match the filters, and how many pages the last statement reads, for each state. */
async function statisticsOf(caller: Actor, filters: IssueFilters) {
  const statements: Statement[] = []
  const row = (shape: Shape, statement: Statement) => {
    statements.push(statement)
    return world.db.snapshotCache.row(shape, statement)
  }
  const db = { ...world.db, snapshotCache: { row } } as unknown as Db
  const counts = await countIssues(db, caller, { of: 'everyone' }, filters)
  const { text, values } = statements.at(-1)!
  const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) ${text}`, values)
  const plan: Plan = rows[0]['QUERY PLAN'][0].Plan
  return { counts, pages: pagesOf(plan) / 2, plan }
}

/** Planning a join for each took seconds. */
test.each([
  [
    'labels of issues',
    (labels: string[], caller: Actor) => listIssues(caller, { of: 'project', id: 1 }, { labels }, newest),
  ],
  [
    'labels of the issues of an author',
    (labels: string[], caller: Actor) =>
      listIssues(caller, { of: 'everyone' }, { labels, author: { id: userId(3) } }, newest),
  ],
  [
    'labels of epics',
    (labels: string[], caller: Actor) =>
      listEpics(caller, { id: 1, traversalIds: [1], ancestors: false, descendants: true }, { labels }, newest),
  ],
  [
    'assignees of issues',
    (usernames: string[], caller: Actor) => listIssues(caller, { of: 'everyone' }, { assignee: { usernames } }, newest),
  ],
  [
    'assignees of merge requests',
    (usernames: string[], caller: Actor) =>
      listMergeRequests(caller, { of: 'project', id: 1 }, { assignee: { usernames } }, newest),
  ],
] as const)('a hundred %s are planned like ten', async (_, listOf) => {
  const scansFor = async (count: number) => {
    const names = Array.from({ length: count }, (_, index) => `name-${index}`)
    const { from, where } = listOf(names, actor(userId(77)))
    const { text, values } = sql`select count(*) ${from} where ${and(where)}`
    return tablesOf((await client.query(`explain (format json) ${text}`, values)).rows[0]['QUERY PLAN'][0].Plan)
  }
  expect(await scansFor(100)).toBe(await scansFor(10))
})

const tableNamesOf = (plan: Plan): string[] => [
  ...(plan['Relation Name'] ? [plan['Relation Name']] : []),
  ...(plan.Plans ?? []).flatMap(tableNamesOf),
]

const tablesOf = (plan: Plan): number => tableNamesOf(plan).length

test('the records of a page of merge requests read no comments of the caller on others', async () => {
  const busy = userId(3)
  // Twenty on each of 2,000: half of them by one user, the others by many. PostgreSQL expects some dozens by any user.
  await client.query(
    `insert into notes (project_id, merge_request_id, author_id, body, discussion_id)
    select m.project_id, m.id, case when k % 2 = 0 then $1 else u.id end, 'Yes', md5('yes ' || m.id || '.' || k) || 'deadbeef'
    from (select id, project_id from merge_requests order by id desc limit 2000) m
      cross join generate_series(1, 20) k
      join (select id, row_number() over (order by id) as n from users) u on u.n = 1 + (m.id * 31 + k) % 900`,
    [busy],
  )
  await client.query('vacuum analyze notes')
  const { rowsById } = listMergeRequests(actor(busy), { of: 'everyone' }, {}, newest)
  const { rows } = await client.query('select id from merge_requests order by id desc limit 20')
  const plan = await onePlanOf(rowsById!.statementOf(rows.map(({ id }) => Number(id))))
  expect(scansOf(plan, 'notes_merge_request')).not.toEqual([])
  expect(scansOf(plan, 'notes_author')).toEqual([])
})

test.each([
  ['issues', 'updated_at', kindOf('Issue').planned!.scheduled!.updates],
  ['merge_requests', 'updated_at', kindOf('MergeRequest').planned!.scheduled!.updates],
  ['projects', 'last_activity_at', { table: 'project_activity', view: 'projects_by_activity' }],
] as const)(
  'a change of one of %s that is of %s alone writes to no index of the table',
  async (table, column, { table: times, view }) => {
    const columnsOf = async (name: string) =>
      (
        await client.query('select attname from pg_attribute where attrelid = $1::regclass and attnum > 0 order by 1', [
          name,
        ])
      ).rows
    expect(await columnsOf(view)).toEqual(await columnsOf(table))
    await client.query('begin')
    const { rows } = await client.query(`select id from ${table} order by id desc limit 1`)
    const count = async (what: string) =>
      Number(
        (await client.query(`select pg_stat_get_xact_tuples_${what}($1::regclass) as number`, [table])).rows[0].number,
      )
    // The first update moves the row to a page with room.
    for (const day of ['2040-01-01', '2040-01-02'])
      await client.query(`update ${table} set ${column} = $2 where id = $1`, [rows[0].id, day])
    expect(await count('hot_updated')).toBeGreaterThanOrEqual((await count('updated')) - 1)
    const copied = await client.query(`select ${column} as time from ${times} where id = $1`, [rows[0].id])
    expect(copied.rows[0].time).toEqual(new Date('2040-01-02'))
    await client.query('rollback')
  },
)

test.each([
  ['issues', 'Issue', 'notes_issue', listIssues],
  ['merge requests', 'MergeRequest', 'notes_merge_request', listMergeRequests],
] as const)('the records of a page of %s count comments without reading them', async (_, type, index, list) => {
  await client.query(
    `insert into notes (project_id, ${columnOf(type).text}, author_id, body, discussion_id)
    select m.project_id, m.id, $1, 'No', md5('no ' || m.id || '.' || k) || 'deadbeef'
    from (select id, project_id from ${tableOf(type).text} order by id desc limit 2000) m cross join generate_series(1, 10) k`,
    [userId(3)],
  )
  await client.query('vacuum analyze notes')
  const { rows } = await client.query(`select id from ${tableOf(type).text} order by id desc limit 20`)
  const records = list(null, { of: 'everyone' }, {}, newest).rowsById!
  const plan = await onePlanOf(records.statementOf(rows.map(({ id }) => Number(id))))
  expect(scansOf(plan, index)).toContain('Index Only Scan')
})

test('the few events of an author are counted without reading all projects, however many events others have', async () => {
  const author = userId(77)
  await client.query(
    `insert into feed_events (project_id, author_id, action, target_type, target_id, target_title, code)
    select p.id, case when n % 400 = 0 then $1::bigint else $2::bigint + n % 8 end, 'created', null, null, null, false
    from (select id, row_number() over (order by id) as n from projects) p`,
    [author, userId(3)],
  )
  await client.query('vacuum analyze feed_events')
  for (const [, caller] of callers) {
    const list = feedOf(caller, { of: 'author', id: author }, { sort: 'desc' })
    const total = plannedFor(list, sql`select ${countOf(list, and(list.where), countedRows + 1)} as total`)
    for (const statement of [await pageOf(list, 1), total])
      expect(wholeReads(await onePlanOf(statement))).not.toContain('projects')
  }
})

describe('issues of a project with 21,000 of them', () => {
  const caller = actor(userId(77))
  let id: number
  beforeAll(async () => {
    const { rows } = await client.query(
      'select id from projects where visibility = 20 and issues_access_level = 20 order by id limit 1',
    )
    id = Number(rows[0].id)
    await client.query('set session_replication_role = replica')
    await client.query(
      `insert into issues (iid, project_id, title, author_id, audience, created_at, updated_at)
      select 2000000 + k, $1, 'Issue', $2, 20, timestamptz '2021-01-01' + k * interval '1 minute', now()
      from generate_series(1, 21000) k`,
      [id, userId(3)],
    )
    await client.query(
      `with made as (
        insert into labels (project_id, title, color) select $1, title, '#336699' from unnest(array['busy', 'general']) title
        returning id, title
      )
      insert into issue_labels (issue_id, label_id, noteable_state, noteable_audience)
      select i.id, made.id, i.state, i.audience
      from issues i join made on made.title = 'general' or i.iid % 14 = 0
      where i.project_id = $1 and i.iid > 2000000`,
      [id],
    )
    await client.query('reset session_replication_role')
    await client.query('vacuum analyze issues, issue_labels, labels')
  })

  test.each([
    ['1,500 have is kept in a hash table', 'busy', 2 * 21_000],
    ['all have is looked up in the order', 'general', 5 * 21_000],
  ])('a label that %s', async (_, title, most) => {
    for (const page of [1, 3]) {
      const filters = { labels: [title.toUpperCase()] }
      const listed = listIssues(caller, { of: 'project', id }, filters, newest)
      const { ids, total, reads } = await searchedPage(listed, page)
      const filter = and([sql`m.project_id = ${id}`, hasLabel('Issue', title)])
      expect(ids).toEqual((await plainPage('Issue', caller, 'created_at desc', page, filter)).slice(0, 20))
      const all = await plainTotal('Issue', caller, filter)
      expect(total).toBe(all > countedRows ? undefined : all)
      expect(await reads()).toBeLessThanOrEqual(most)
    }
  })
})
