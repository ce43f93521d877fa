import { expect, test } from 'vitest'
import { Random } from '../../../../bench/varied/random.ts'
import {
  expectListed,
  filterBy,
  type ModelFilter,
  negated,
  queryOf,
  severalOf,
  sortedBy,
} from '../../../../test/list-model.ts'
import { addEpicAwards, addEpicLabels, addEpics } from '../../../../test/tables/epics.ts'
import { addLabels } from '../../../../test/tables/issues.ts'
import { type Client, type TestGroup, World } from '../../../../test/world.ts'
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

type Filter = ModelFilter<ModelEpic, Caller>

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
    const place = random.pick(groups)
    const iid = (numbers.get(place) ?? 0) + 1
    numbers.set(place, iid)
    const created = new Date(Date.now() - random.whole(0, 39) * day - random.whole(0, 2)).toISOString()
    return {
      iid,
      in: place,
      title: random.pick(titles),
      description: random.pick(texts),
      author: random.pick(people),
      state: random.chance(0.6) ? 'opened' : 'closed',
      confidential: random.chance(0.4),
      created,
      updated: random.chance(0.5) ? created : new Date(Date.now() - random.whole(0, 999)).toISOString(),
      labels: random.some(names, 0.35),
      awards: people.flatMap(({ id }) => random.some(['thumbsup', 'tada'], 0.15).map((name) => ({ user: id, name }))),
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
  const one = filterBy<ModelEpic, Caller>
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
    one('iids', [1, 4, 9], ({ iid }) => [1, 4, 9].includes(iid)),
  ]
}

function otherFilters(some: ModelEpic): Filter[] {
  const one = filterBy<ModelEpic, Caller>
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
  return sortedBy(epics, (epic) => [epic[key[by]]], sort)
}

test('any filters together, in any order, list the epics that a plain filter of all epics leaves', async () => {
  await using world = await World.start()
  const random = new Random(20_261_123)
  const { groups, epics, callers, people } = await makeModel(world, random)
  const readable = mayRead(world)
  const positive = negatable(people)
  const filters = [...positive, ...positive.map(negated), ...otherFilters(epics[17]!)]
  const several = Array.from({ length: 150 }, () => severalOf(filters, random, random.whole(2, 3)))
  let found = 0
  for (const chosen of [...filters.map((filter) => [filter]), ...several]) {
    const caller = random.pick(callers)
    const at = random.whole(0, groups.length - 1)
    const [ancestors, descendants] = [random.chance(0.4), random.chance(0.7)]
    const [by, sort] = [random.pick(epicOrders), random.pick(['asc', 'desc'])]
    const query = queryOf(chosen, {
      include_ancestor_groups: ancestors,
      include_descendant_groups: descendants,
      order_by: by,
      sort,
      per_page: 100,
    })
    const place = groups[at]!
    const what = `${caller.client.username} ${place.group.path} ${decodeURIComponent(query)}`
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
    expectListed(listed, sorted(matching, by, sort), what)
    found += matching.length
  }
  expect(found).toBeGreaterThan(filters.length + several.length)
})
