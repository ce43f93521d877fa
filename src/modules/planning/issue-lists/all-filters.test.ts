import { expect, test } from 'vitest'
import { Random } from '../../../../bench/varied/random.ts'
import {
  dayFromNow,
  expectListed,
  filterBy,
  idsOf,
  idsOfPages,
  type ModelFilter,
  negated,
  pairsOf,
  queryOf,
  severalOf,
  sortedBy,
} from '../../../../test/list-model.ts'
import { World } from '../../../../test/world.ts'
import { issueOrders } from './order-queries.ts'
import { type Caller, type Model, type ModelIssue, makeModel, mayRead } from './testing.ts'

type Filter = ModelFilter<ModelIssue, Caller>

const day = 86_400_000
const monday = (date: Date) => new Date(date.getTime() - ((date.getUTCDay() + 6) % 7) * day).toISOString().slice(0, 10)
const firstOfMonth = (ahead: number) => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)).toISOString().slice(0, 10)
}

/** Filters that can also be negated. */
function negatable({ issues, callers, milestones, epics }: Model): Filter[] {
  const people = callers.map(({ client }) => client)
  const one = filterBy<ModelIssue, Caller>
  const labelled = (title: string) => (issue: ModelIssue) =>
    issue.labels.some((label) => label.title.toLowerCase() === title.toLowerCase())
  const today = dayFromNow(0)
  const upcoming = new Set(
    [...new Set(milestones.map(({ holder }) => holder))].map(
      (holder) =>
        milestones
          .filter((each) => each.holder === holder && each.state === 'active' && each.due !== null && each.due > today)
          .sort((a, b) => (a.due! < b.due! ? -1 : 1))[0]?.id,
    ),
  )
  const has =
    (name: string) =>
    (issue: ModelIssue, { client }: Caller) =>
      issue.awards.some((award) => award.user === client.id && award.name === name)
  const awarded: Filter['matches'] = (issue, caller) => has('thumbsup')(issue, caller) || has('tada')(issue, caller)
  const numbers = [1, 3, 5, 7, 11]
  // An epic that the caller may not read is the same as none.
  const hasEpic: Filter['matches'] = ({ epic }, { client }) => epic?.readers.includes(client) === true
  const wordIn = (word: string) => (text: string) => text.toLowerCase().includes(word)
  return [
    one('labels', 'BUG', labelled('bug')),
    one('labels', 'bug, feature', (issue) => labelled('bug')(issue) && labelled('feature')(issue)),
    one('labels', 'None', ({ labels }) => labels.length === 0),
    one('labels', 'any', ({ labels }) => labels.length > 0),
    one('labels', 'No Label', ({ labels }) => labels.length === 0),
    one('labels', 'unknown', () => false),
    one('milestone', '1.0', ({ milestone }) => milestone?.title === '1.0'),
    one('milestone', 'None', ({ milestone }) => milestone === undefined),
    one('milestone', 'Any', ({ milestone }) => milestone !== undefined),
    one('milestone', '#upcoming', ({ milestone }) => milestone !== undefined && upcoming.has(milestone.id)),
    one(
      'milestone',
      '#started',
      ({ milestone }) => milestone?.state === 'active' && milestone.start !== null && milestone.start < today,
    ),
    ...people.slice(0, 2).map((who) => one('author_id', who.id, ({ author }) => author === who)),
    one('author_id', 'None', () => false),
    { ...one('author_username', people[2]!.username, ({ author }) => author === people[2]), name: 'author_id' },
    one('assignee_id', people[1]!.id, ({ assignees }) => assignees.includes(people[1]!)),
    one('assignee_id', 'None', ({ assignees }) => assignees.length === 0),
    one('assignee_id', 'any', ({ assignees }) => assignees.length > 0),
    {
      name: 'assignee_id',
      query: people.slice(2, 4).map((who) => ['assignee_username[]', who.username] as const),
      matches: ({ assignees }) => people.slice(2, 4).every((who) => assignees.includes(who)),
    },
    one('my_reaction_emoji', 'tada', has('tada')),
    one('my_reaction_emoji', 'None', (issue, caller) => !awarded(issue, caller)),
    one('my_reaction_emoji', 'Any', awarded),
    one('weight', 2, ({ weight }) => weight === 2),
    one('weight', 'None', ({ weight }) => weight === null),
    one('weight', 'Any', ({ weight }) => weight !== null),
    one('epic_id', 'None', (issue, caller) => !hasEpic(issue, caller)),
    one('epic_id', 'Any', hasEpic),
    ...epics.map(({ id }) => one('epic_id', id, (issue, caller) => issue.epic?.id === id && hasEpic(issue, caller))),
    one('iids', numbers, ({ iid }) => numbers.includes(iid)),
    one('search', 'engine', ({ title, description }) => [title, description].some(wordIn('engine'))),
    one('search', 'broken engine', ({ title, description }) =>
      [title, description].some((text) => wordIn('broken')(text) && wordIn('engine')(text)),
    ),
    one('search', issues[0]!.title.slice(0, 2), () => false),
  ]
}

function otherFilters({ issues }: Model): Filter[] {
  const one = filterBy<ModelIssue, Caller>
  const some = issues[17]!
  const due = (value: string, is: (day: string) => boolean) =>
    one('due_date', value, (issue) => issue.due !== null && is(issue.due))
  const week = monday(new Date())
  const nextWeek = new Date(Date.parse(week) + 7 * day).toISOString().slice(0, 10)
  return [
    one('state', 'opened', ({ state }) => state === 'opened'),
    one('state', 'closed', ({ state }) => state === 'closed'),
    one('state', 'all', () => true),
    one('confidential', 'true', ({ confidential }) => confidential),
    one('confidential', 'false', ({ confidential }) => !confidential),
    one('scope', 'created_by_me', ({ author }, { client }) => author === client),
    one('scope', 'assigned-to-me', ({ assignees }, { client }) => assignees.includes(client)),
    one('created_after', some.created, ({ created }) => created >= some.created),
    one('created_before', some.created, ({ created }) => created <= some.created),
    one('updated_after', some.updated, ({ updated }) => updated >= some.updated),
    one('updated_before', some.updated, ({ updated }) => updated <= some.updated),
    one('due_date', '0', ({ due }) => due === null),
    due('any', () => true),
    due('today', (date) => date === dayFromNow(0)),
    due('tomorrow', (date) => date === dayFromNow(1)),
    due('overdue', (date) => date < dayFromNow(0)),
    due('week', (date) => date >= week && date < nextWeek),
    due('month', (date) => date >= firstOfMonth(0) && date < firstOfMonth(1)),
    due('next_month_and_previous_two_weeks', (date) => date >= dayFromNow(-14) && date < firstOfMonth(2)),
  ]
}

function sorted(issues: readonly ModelIssue[], by: (typeof issueOrders)[number], sort: string): ModelIssue[] {
  const keys: Record<typeof by, (issue: ModelIssue) => readonly (string | number | null | undefined)[]> = {
    created_at: ({ created }) => [created],
    updated_at: ({ updated }) => [updated],
    due_date: ({ due }) => [due],
    weight: ({ weight }) => [weight],
    milestone_due: ({ milestone }) => [milestone?.due],
    popularity: ({ awards }) => [awards.filter(({ name }) => name === 'thumbsup').length],
    relative_position: ({ position }) => [position],
    label_priority: ({ priority }) => [priority],
    priority: ({ milestone, priority }) => [milestone?.due, priority],
  }
  const oneDirection = ['relative_position', 'label_priority', 'priority'].includes(by)
  return sortedBy(issues, keys[by], oneDirection ? 'asc' : sort)
}

test('D3-ISSUES-NOT: any filters together, in any order and on any page, list what a plain filter of all issues leaves', async () => {
  // Administrators see the issues of all tests of a shared world.
  await using world = await World.start()
  const random = new Random(20_261_123)
  const model = await makeModel(world, random)
  const { group, projects, callers, issues } = model
  const positive = negatable(model)
  const filters = [...positive, ...positive.map(negated), ...otherFilters(model)]
  const places = [
    { path: '', all: true, holds: () => true },
    {
      path: `/groups/${group.id}`,
      all: false,
      holds: ({ in: { inGroup, archived } }: ModelIssue) => inGroup && !archived,
    },
    ...projects.map((each) => ({
      path: `/projects/${each.project.id}`,
      all: false,
      holds: (issue: ModelIssue) => issue.in === each,
    })),
  ]
  const cases = [
    ...filters.map((filter) => [filter]),
    ...pairsOf(filters, random),
    ...Array.from({ length: 150 }, () => severalOf(filters, random, 3)),
  ]
  let found = 0
  for (const chosen of cases) {
    const caller = random.pick(callers)
    // Most issues are outside of any one project.
    const place = random.chance(0.6) ? places[0]! : random.pick(places)
    const by = random.pick(issueOrders)
    const sort = random.pick(['asc', 'desc'])
    const names = chosen.flatMap(({ query }) => query.map(([name]) => name))
    const query = queryOf(chosen, place.all && !names.includes('scope') ? { scope: 'all' } : {})
    const matching = issues.filter(
      (issue) => place.holds(issue) && mayRead(caller, issue) && chosen.every(({ matches }) => matches(issue, caller)),
    )
    const what = `${caller.client.username} ${place.path}/issues?${decodeURIComponent(query)} by ${by} ${sort}`
    const listed = await caller.client.get(`${place.path}/issues?${query}&order_by=${by}&sort=${sort}&per_page=100`)
    if (listed.status !== 200) {
      // A project of which the caller sees nothing.
      expect(matching, what).toEqual([])
      continue
    }
    expectListed(listed, sorted(matching, by, sort), what)
    if (!names.includes('state')) {
      const { statistics } = (await caller.client.get(`${place.path}/issues_statistics?${query}`)).json
      const opened = matching.filter(({ state }) => state === 'opened').length
      expect.soft(statistics.counts, what).toEqual({
        all: matching.length,
        opened,
        closed: matching.length - opened,
      })
    }
    found += matching.length
  }
  expect(found).toBeGreaterThan(cases.length)

  // Those without labels are all less those with them.
  for (const caller of callers)
    for (const { path, all, holds } of places.slice(0, 2))
      for (const titles of ['bug', 'BUG,feature', 'docs,bug', 'unknown']) {
        const isWithout = ({ labels }: ModelIssue) =>
          !titles.split(',').every((title) => labels.some((label) => label.title.toLowerCase() === title.toLowerCase()))
        const matching = issues.filter((issue) => holds(issue) && mayRead(caller, issue) && isWithout(issue))
        const opened = matching.filter(({ state }) => state === 'opened').length
        const query = `${all ? 'scope=all&' : ''}not[labels]=${titles}`
        const { statistics } = (await caller.client.get(`${path}/issues_statistics?${query}`)).json
        expect
          .soft(statistics.counts, `${caller.client.username} ${path} ${titles}`)
          .toEqual({ all: matching.length, opened, closed: matching.length - opened })
      }

  // The pages of each order, one after the other, have every issue once.
  for (const by of issueOrders)
    for (const sort of ['asc', 'desc'])
      for (const caller of [callers[0]!, random.pick(callers.slice(1))]) {
        const listed = await idsOfPages(caller.client, `/issues?scope=all&order_by=${by}&sort=${sort}`)
        const readable = issues.filter((issue) => mayRead(caller, issue))
        expect(listed, `${caller.client.username} by ${by} ${sort}`).toEqual(idsOf(sorted(readable, by, sort)))
      }
})
