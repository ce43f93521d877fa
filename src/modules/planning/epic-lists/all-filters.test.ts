import { expect, test } from 'vitest'
import { addEpicAwards, addEpicLabels, addEpics } from '../../../../test/tables/epics.ts'
import { addLabels } from '../../../../test/tables/issues.ts'
import { type Client, type TestGroup, World } from '../../../../test/world.ts'
import { Random } from '../issue-lists/testing.ts'
import { epicOrders } from './queries.ts'

type Caller = { readonly client: Client; readonly external: boolean }

type ModelGroup = {
  readonly group: TestGroup
  readonly open: 'anyone' | 'members'
  /** Users with the role of guest, or higher ones, in the group or above. */
  readonly guests: readonly Client[]
  readonly reporters: readonly Client[]
}

type ModelEpic = {
  readonly id: number
  readonly iid: number
  readonly in: ModelGroup
  readonly title: string
  readonly description: string
  readonly author: Client
  readonly state: 'opened' | 'closed'
  readonly confidential: boolean
  readonly created: string
  readonly updated: string
  readonly labels: readonly string[]
  readonly awards: readonly { readonly user: number; readonly name: string }[]
}

/** A filter as parameters, and the same in memory. */
type Filter = {
  /** Filters with the same name are not combined. */
  readonly name: string
  readonly query: readonly (readonly [name: string, value: string | number])[]
  readonly matches: (epic: ModelEpic, caller: Caller) => boolean
}

const day = 86_400_000
const titles = ['Faster engine', 'Better reports', 'New colours', 'Engine room']
const texts = ['The engine is slow', 'Readers ask for it', '']
const names = ['bug', 'Feature', 'docs']

/** Random epics in nested groups, as rows and in memory. */
async function makeModel(world: World, random: Random) {
  const external = await world.user({ external: true })
  const [reporter, guest, stranger] = await Promise.all([1, 2, 3].map(() => world.user()))
  const people = [world.root, reporter!, guest!, stranger!, external]
  const top = await world.group({ visibility: 'public' })
  const middle = await world.group({ visibility: 'public', parent: top, members: [[reporter!, 'reporter']] })
  const inner = await world.group({ visibility: 'private', parent: middle, members: [[guest!, 'guest']] })
  const groups: readonly ModelGroup[] = [
    { group: top, open: 'anyone', guests: [], reporters: [] },
    { group: middle, open: 'anyone', guests: [reporter!], reporters: [reporter!] },
    { group: inner, open: 'members', guests: [reporter!, guest!], reporters: [reporter!] },
  ]
  const labelIds = await addLabels(
    world,
    names.map((title) => ({ namespace_id: top.id, title, color: '#ff0000' })),
  )
  const numbers = new Map<ModelGroup, number>()
  const planned = Array.from({ length: 120 }, (): Omit<ModelEpic, 'id'> => {
    const place = random.of(groups)
    const iid = (numbers.get(place) ?? 0) + 1
    numbers.set(place, iid)
    const created = new Date(Date.now() - random.upTo(40) * day - random.upTo(3)).toISOString()
    return {
      iid,
      in: place,
      title: random.of(titles),
      description: random.of(texts),
      author: random.of(people),
      state: random.chance(60) ? 'opened' : 'closed',
      confidential: random.chance(40),
      created,
      updated: random.chance(50) ? created : new Date(Date.now() - random.upTo(1000)).toISOString(),
      labels: random.some(names, 35),
      awards: people.flatMap(({ id }) => random.some(['thumbsup', 'tada'], 15).map((name) => ({ user: id, name }))),
    }
  })
  const ids = await addEpics(
    world,
    planned.map((each) => ({
      iid: each.iid,
      namespace_id: each.in.group.id,
      title: each.title,
      description: each.description,
      author_id: each.author.id,
      state: each.state,
      confidential: each.confidential,
      created_at: each.created,
      updated_at: each.updated,
    })),
  )
  const epics = planned.map((each, index) => ({ ...each, id: ids[index]! }))
  await addEpicLabels(
    world,
    epics.flatMap(({ id, labels }) =>
      labels.map((title) => ({ epic_id: id, label_id: labelIds[names.indexOf(title)]! })),
    ),
  )
  await addEpicAwards(
    world,
    epics.flatMap(({ id, awards }) => awards.map(({ user, name }) => ({ epic_id: id, user_id: user, name }))),
  )
  const callers = people.map((client): Caller => ({ client, external: client === external }))
  return { groups, epics, callers, people }
}

/** Whether the caller may read an epic. */
const mayRead =
  (world: World) =>
  ({ client }: Caller, { in: place, confidential, author }: ModelEpic): boolean => {
    if (client === world.root) return true
    if (place.open !== 'anyone' && !place.guests.includes(client)) return false
    return !confidential || author === client || place.reporters.includes(client)
  }

/** Filters that can also be negated. */
function negatable(people: readonly Client[]): Filter[] {
  const one = (name: string, value: string | number, matches: Filter['matches']): Filter => ({
    name,
    query: [[name, value]],
    matches,
  })
  const has =
    (name: string): Filter['matches'] =>
    ({ awards }, { client }) =>
      awards.some((award) => award.user === client.id && award.name === name)
  const awarded: Filter['matches'] = (epic, caller) => has('thumbsup')(epic, caller) || has('tada')(epic, caller)
  const word = (text: string) => text.toLowerCase().includes('engine')
  return [
    one('labels', 'BUG', ({ labels }) => labels.includes('bug')),
    one('labels', 'bug,feature', ({ labels }) => labels.includes('bug') && labels.includes('Feature')),
    one('labels', 'None', ({ labels }) => labels.length === 0),
    one('labels', 'Any', ({ labels }) => labels.length > 0),
    one('author_id', people[1]!.id, ({ author }) => author === people[1]),
    one('author_id', 'None', () => false),
    { ...one('author_username', people[2]!.username, ({ author }) => author === people[2]), name: 'author_id' },
    one('my_reaction_emoji', 'tada', has('tada')),
    one('my_reaction_emoji', 'None', (epic, caller) => !awarded(epic, caller)),
    one('my_reaction_emoji', 'Any', awarded),
    one('search', 'engine', ({ title, description }) => word(title) || word(description)),
    {
      name: 'search',
      query: [
        ['search', 'engine'],
        ['in', 'title'],
      ],
      matches: ({ title }) => word(title),
    },
    {
      name: 'iids',
      query: [1, 4, 9].map((iid) => ['iids[]', iid] as const),
      matches: ({ iid }) => [1, 4, 9].includes(iid),
    },
  ]
}

/** The same filter within `not`. */
const negated = ({ name, query, matches }: Filter): Filter => ({
  name: `not ${name}`,
  query: query.map(([key, value]) => [key.endsWith('[]') ? `not[${key.slice(0, -2)}][]` : `not[${key}]`, value]),
  matches: (epic, caller) => !matches(epic, caller),
})

function otherFilters(some: ModelEpic): Filter[] {
  const one = (name: string, value: string, matches: Filter['matches']): Filter => ({
    name,
    query: [[name, value]],
    matches,
  })
  return [
    one('state', 'opened', ({ state }) => state === 'opened'),
    one('state', 'closed', ({ state }) => state === 'closed'),
    one('state', 'all', () => true),
    one('confidential', 'true', ({ confidential }) => confidential),
    one('confidential', 'false', ({ confidential }) => !confidential),
    one('created_after', some.created, ({ created }) => created >= some.created),
    one('created_before', some.created, ({ created }) => created <= some.created),
    one('updated_after', some.updated, ({ updated }) => updated >= some.updated),
    one('updated_before', some.updated, ({ updated }) => updated <= some.updated),
  ]
}

function sorted(epics: readonly ModelEpic[], by: (typeof epicOrders)[number], sort: string): ModelEpic[] {
  const key = { created_at: 'created', updated_at: 'updated', title: 'title' } as const
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return [...epics].sort((a, b) => compare(a[key[by]], b[key[by]]) * (sort === 'desc' ? -1 : 1) || b.id - a.id)
}

test('any filters together, in any order, list the epics that a plain filter of all epics leaves', async () => {
  await using world = await World.start()
  const random = new Random(20_261_123)
  const { groups, epics, callers, people } = await makeModel(world, random)
  const readable = mayRead(world)
  const positive = negatable(people)
  const filters = [...positive, ...positive.map(negated), ...otherFilters(epics[17]!)]
  const unlike = (chosen: readonly Filter[]) =>
    random.of(filters.filter(({ name }) => chosen.every((each) => each.name !== name)))
  const several = Array.from({ length: 150 }, () => {
    const first = random.of(filters)
    const second = unlike([first])
    return random.chance(50) ? [first, second] : [first, second, unlike([first, second])]
  })
  let found = 0
  for (const chosen of [...filters.map((filter) => [filter]), ...several]) {
    const caller = random.of(callers)
    const at = random.upTo(groups.length)
    const [ancestors, descendants] = [random.chance(40), random.chance(70)]
    const [by, sort] = [random.of(epicOrders), random.of(['asc', 'desc'])]
    const query = new URLSearchParams([
      ...chosen.flatMap((filter) => filter.query.map(([name, value]) => [name, String(value)])),
      ['include_ancestor_groups', String(ancestors)],
      ['include_descendant_groups', String(descendants)],
      ['order_by', by],
      ['sort', sort],
      ['per_page', '100'],
    ] as [string, string][])
    const place = groups[at]!
    const what = `${caller.client.username} ${place.group.path} ${decodeURIComponent(String(query))}`
    const listed = await caller.client.get(`/groups/${place.group.id}/epics?${query}`)
    if (listed.status !== 200) {
      expect([listed.status, place.open, place.guests.includes(caller.client)], what).toEqual([404, 'members', false])
      continue
    }
    const matching = epics.filter((epic) => {
      const other = groups.indexOf(epic.in)
      const isNear = other === at || (ancestors && other < at) || (descendants && other > at)
      return isNear && readable(caller, epic) && chosen.every(({ matches }) => matches(epic, caller))
    })
    expect
      .soft(
        listed.json.map(({ id }: { id: number }) => id),
        what,
      )
      .toEqual(
        sorted(matching, by, sort)
          .map(({ id }) => id)
          .slice(0, 100),
      )
    expect.soft(Number(listed.headers['x-total']), what).toBe(matching.length)
    found += matching.length
  }
  expect(found).toBeGreaterThan(filters.length + several.length)
})
