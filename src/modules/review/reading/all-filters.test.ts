import { expect, test } from 'vitest'
import { Random } from '../../../../bench/varied/random.ts'
import {
  dayFromNow,
  expectListed,
  filterBy,
  idsOf,
  idsOfPages,
  type ModelFilter,
  pairsOf,
  queryOf,
  sortedBy,
} from '../../../../test/list-model.ts'
import { addDatedMilestones, addLabels } from '../../../../test/tables/issues.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import {
  addMergeRequestAwards,
  addMergeRequestLabels,
  addMergeRequestPeople,
  addMergeRequests,
} from '../../../../test/tables/review.ts'
import { type Client, type TestGroup, type TestProject, World } from '../../../../test/world.ts'
import type { Visibility } from '../../../access/levels.ts'
import { mergeRequestStates } from '../merge-requests/states.ts'
import { mergeRequestOrders } from './list-queries.ts'

type Caller = { readonly client: Client; readonly external: boolean }

type ModelProject = {
  readonly project: TestProject
  readonly visibility: Visibility
  readonly membersOnly: boolean
  readonly archived: boolean
  /** In the group or below it. */
  readonly inGroup: boolean
  /** Callers with the role of reporter. */
  readonly reporters: readonly Client[]
  /** Its labels and milestones are those of the same holder. */
  readonly holder: { readonly project_id: number } | { readonly namespace_id: number }
}

type ModelMilestone = { readonly id: number; readonly title: string; readonly started: boolean; readonly next: boolean }

type ModelMergeRequest = {
  readonly id: number
  readonly iid: number
  readonly in: ModelProject
  readonly source: ModelProject
  readonly sourceBranch: string
  readonly targetBranch: string
  readonly title: string
  readonly description: string
  readonly author: Client
  readonly state: (typeof mergeRequestStates)[number]
  readonly created: string
  readonly updated: string
  readonly labels: readonly string[]
  readonly milestone: ModelMilestone | undefined
  readonly assignees: readonly Client[]
  readonly reviewers: readonly Client[]
  readonly approvers: readonly Client[]
  readonly approved: readonly Client[]
  readonly awards: readonly { readonly user: number; readonly name: string }[]
}

type Filter = ModelFilter<ModelMergeRequest, Caller> & {
  /** Where the parameter exists; everywhere if absent. */
  readonly only?: readonly ('all' | 'group' | 'project')[]
}

const day = 86_400_000
const titles = ['Faster engine', 'Draft: Better reports', 'WIP New colours', '[Draft] Engine room', 'Drafty room']
const texts = ['The engine is slow', 'Readers ask for it', '']
const labelNames = ['bug', 'Feature', 'docs']

/** Projects with labels and milestones of their own or of a group; callers have different roles in them. */
async function makeProjects(world: World) {
  const external = await world.user({ external: true })
  const [reporter, guest, stranger] = (await Promise.all([1, 2, 3].map(() => world.user()))) as [Client, Client, Client]
  const people = [world.root, reporter, guest, stranger, external]
  const group = await world.group({ visibility: 'public', members: [[reporter, 'reporter']] })
  const below = await world.group({ visibility: 'private', parent: group, members: [[guest, 'guest']] })
  const make = async (
    visibility: Visibility,
    {
      of,
      reporters = [],
      guests = [],
      membersOnly = false,
      archived = false,
    }: {
      of?: TestGroup
      reporters?: Client[]
      guests?: Client[]
      membersOnly?: boolean
      archived?: boolean
    } = {},
  ): Promise<ModelProject> => {
    const members = [
      ...reporters.map((who) => [who, 'reporter'] as const),
      ...guests.map((who) => [who, 'guest'] as const),
    ].map(([who, level]): [Client, 'guest' | 'reporter'] => [who, level])
    const project = await world.project({ visibility, members, ...(of && { group: of }) })
    if (membersOnly) await world.root.put(`/projects/${project.id}`, { merge_requests_access_level: 'private' })
    if (archived) await changeProject(world, project.id, { archived: true })
    return {
      project,
      visibility,
      membersOnly,
      archived,
      inGroup: of !== undefined,
      reporters: [...reporters, ...(of ? [reporter] : [])],
      holder: of ? { namespace_id: group.id } : { project_id: project.id },
    }
  }
  const projects = [
    await make('public', { of: group }),
    await make('private', { of: below }),
    await make('internal', { reporters: [external] }),
    await make('public', { membersOnly: true, reporters: [stranger], guests: [guest] }),
    await make('public', { of: group, archived: true }),
    await make('private', { reporters: [external], guests: [stranger] }),
    await make('public', { guests: [guest] }),
  ]
  const callers = people.map((client): Caller => ({ client, external: client === external }))
  return { group, projects, people, callers }
}

/** The same labels and milestones in each place that has its own. */
async function makePlanning(world: World, projects: readonly ModelProject[]) {
  const holders = [...new Map(projects.map(({ holder }) => [JSON.stringify(holder), holder])).entries()]
  const labelRows = holders.flatMap(([key, holder]) => labelNames.map((title) => ({ key, holder, title })))
  const labelIds = await addLabels(
    world,
    labelRows.map(({ holder, title }) => ({ ...holder, title, color: '#ff0000' })),
  )
  const kinds = [
    { iid: 1, title: '1.0', state: 'active', start_date: dayFromNow(-5), due_date: dayFromNow(5) },
    { iid: 2, title: '2.0', state: 'active', start_date: dayFromNow(3), due_date: dayFromNow(20) },
    { iid: 3, title: '3.0', state: 'closed', start_date: dayFromNow(-20), due_date: dayFromNow(2) },
  ] as const
  const milestoneRows = holders.flatMap(([key, holder]) => kinds.map((kind) => ({ key, holder, kind })))
  const milestoneIds = await addDatedMilestones(
    world,
    milestoneRows.map(({ holder, kind }) => ({ ...holder, ...kind })),
  )
  const keyOf = ({ holder }: ModelProject) => JSON.stringify(holder)
  return {
    labelIn: (place: ModelProject, name: string): number =>
      labelIds[labelRows.findIndex(({ key, title }) => key === keyOf(place) && title === name)]!,
    milestonesIn: (place: ModelProject): ModelMilestone[] =>
      milestoneRows.flatMap(({ key, kind: { title } }, index) =>
        key === keyOf(place)
          ? [{ id: milestoneIds[index]!, title, started: title === '1.0', next: title === '1.0' }]
          : [],
      ),
  }
}

/** Random merge requests in several projects, as rows and in memory. */
async function makeModel(world: World, random: Random) {
  const { group, projects, people, callers } = await makeProjects(world)
  const { labelIn, milestonesIn } = await makePlanning(world, projects)
  const numbers = new Map<ModelProject, number>()
  const taken = new Set<string>()
  const planned = Array.from({ length: 200 }, (): Omit<ModelMergeRequest, 'id'> => {
    const place = random.pick(projects)
    const iid = (numbers.get(place) ?? 0) + 1
    numbers.set(place, iid)
    const created = new Date(Date.now() - random.whole(0, 39) * day - random.whole(0, 2)).toISOString()
    const [source, targetBranch] = [random.chance(0.7) ? place : random.pick(projects), random.pick(['main', 'stable'])]
    const state = random.chance(0.5) ? 'opened' : random.pick(mergeRequestStates)
    // Two that are open have different branches.
    const branches = JSON.stringify([place.project.id, source.project.id, targetBranch])
    const isTopic = random.chance(0.25) && (state === 'closed' || state === 'merged' || !taken.has(branches))
    if (isTopic && state !== 'closed' && state !== 'merged') taken.add(branches)
    return {
      iid,
      in: place,
      source,
      sourceBranch: isTopic ? 'topic' : `branch-${iid}`,
      targetBranch,
      title: random.pick(titles),
      description: random.pick(texts),
      author: random.pick(people),
      state,
      created,
      updated: random.chance(0.5) ? created : new Date(Date.now() - random.whole(0, 999)).toISOString(),
      labels: random.some(labelNames, 0.35),
      milestone: random.chance(0.6) ? random.pick(milestonesIn(place)) : undefined,
      assignees: random.some(people, 0.15),
      reviewers: random.some(people, 0.15),
      approvers: random.some(people, 0.15),
      approved: random.some(people, 0.15),
      awards: people.flatMap(({ id }) => random.some(['thumbsup', 'tada'], 0.15).map((name) => ({ user: id, name }))),
    }
  })
  const ids = await addMergeRequests(
    world,
    planned.map((each) => ({
      iid: each.iid,
      project_id: each.in.project.id,
      source_project_id: each.source.project.id,
      source_branch: each.sourceBranch,
      target_branch: each.targetBranch,
      title: each.title,
      description: each.description,
      author_id: each.author.id,
      state: each.state,
      milestone_id: each.milestone?.id ?? null,
      created_at: each.created,
      updated_at: each.updated,
    })),
  )
  const mergeRequests = planned.map((each, index): ModelMergeRequest => ({ ...each, id: ids[index]! }))
  const peopleOf = (who: 'approved' | 'approvers' | 'assignees' | 'reviewers') =>
    mergeRequests.flatMap(({ id, [who]: users }) => users.map((user) => ({ merge_request_id: id, user_id: user.id })))
  await addMergeRequestPeople(world, 'merge_request_assignees', peopleOf('assignees'))
  await addMergeRequestPeople(world, 'merge_request_reviewers', peopleOf('reviewers'))
  await addMergeRequestPeople(world, 'approvers', peopleOf('approvers'))
  await addMergeRequestPeople(world, 'approvals', peopleOf('approved'))
  await addMergeRequestLabels(
    world,
    mergeRequests.flatMap(({ id, in: place, labels }) =>
      labels.map((name) => ({ merge_request_id: id, label_id: labelIn(place, name) })),
    ),
  )
  await addMergeRequestAwards(
    world,
    mergeRequests.flatMap(({ id, awards }) =>
      awards.map(({ user, name }) => ({ merge_request_id: id, user_id: user, name })),
    ),
  )
  return { group, projects, people, callers, mergeRequests }
}

/** Merge requests are read by reporters, and where a project shows them to others, by those who may see it. */
const mayRead =
  (world: World) =>
  ({ client, external }: Caller, { in: { visibility, membersOnly, reporters } }: ModelMergeRequest): boolean => {
    if (client === world.root || reporters.includes(client)) return true
    return !membersOnly && (visibility === 'public' || (visibility === 'internal' && !external))
  }

function filtersOf({ people, projects, mergeRequests }: Awaited<ReturnType<typeof makeModel>>): Filter[] {
  const one = filterBy<ModelMergeRequest, Caller>
  const [first, second] = [people[1]!, people[2]!]
  const some = mergeRequests[17]!
  const has =
    (name: string): Filter['matches'] =>
    ({ awards }, { client }) =>
      awards.some((award) => award.user === client.id && award.name === name)
  const awarded: Filter['matches'] = (each, caller) => has('thumbsup')(each, caller) || has('tada')(each, caller)
  const engine = (text: string) => text.toLowerCase().includes('engine')
  const isDraft: Filter['matches'] = ({ title }) => /^(Draft:|WIP |\[Draft\])/.test(title)
  const both =
    (who: 'approved' | 'approvers'): Filter['matches'] =>
    (each) =>
      each[who].includes(first) && each[who].includes(second)
  const users = (name: string, who: 'approved' | 'approvers'): Filter[] => [
    one(name, 'None', ({ [who]: users }) => users.length === 0),
    one(name, 'any', ({ [who]: users }) => users.length > 0),
    one(name, idsOf([first, second]), both(who)),
  ]
  return [
    ...mergeRequestStates.map((state) => one('state', state, (each) => each.state === state)),
    one('state', 'all', () => true),
    one('scope', 'created_by_me', ({ author }, { client }) => author === client),
    one('scope', 'assigned-to-me', ({ assignees }, { client }) => assignees.includes(client)),
    one('labels', 'BUG', ({ labels }) => labels.includes('bug')),
    one('labels', 'bug,feature', ({ labels }) => labels.includes('bug') && labels.includes('Feature')),
    one('labels', 'None', ({ labels }) => labels.length === 0),
    one('labels', 'Any', ({ labels }) => labels.length > 0),
    one('labels', 'unknown', () => false),
    one('milestone', '1.0', ({ milestone }) => milestone?.title === '1.0'),
    one('milestone', 'None', ({ milestone }) => milestone === undefined),
    one('milestone', 'Any', ({ milestone }) => milestone !== undefined),
    one('milestone', '#upcoming', ({ milestone }) => milestone?.next === true),
    one('milestone', '#started', ({ milestone }) => milestone?.started === true),
    one('author_id', first.id, ({ author }) => author === first),
    one('author_id', 'None', () => false),
    { ...one('author_username', second.username, ({ author }) => author === second), name: 'author_id' },
    one('assignee_id', first.id, ({ assignees }) => assignees.includes(first)),
    one('assignee_id', 'None', ({ assignees }) => assignees.length === 0),
    one('assignee_id', 'Any', ({ assignees }) => assignees.length > 0),
    one('reviewer_id', second.id, ({ reviewers }) => reviewers.includes(second)),
    one('reviewer_id', 'None', ({ reviewers }) => reviewers.length === 0),
    one('reviewer_id', 'Any', ({ reviewers }) => reviewers.length > 0),
    { ...one('reviewer_username', first.username, ({ reviewers }) => reviewers.includes(first)), name: 'reviewer_id' },
    ...users('approver_ids', 'approvers'),
    ...users('approved_by_ids', 'approved'),
    one('my_reaction_emoji', 'tada', has('tada')),
    one('my_reaction_emoji', 'None', (each, caller) => !awarded(each, caller)),
    one('my_reaction_emoji', 'Any', awarded),
    one('search', 'engine', ({ title, description }) => engine(title) || engine(description)),
    {
      name: 'search',
      query: [
        ['search', 'engine'],
        ['in', 'title'],
      ],
      matches: ({ title }) => engine(title),
      only: ['all'],
    },
    one('source_branch', 'topic', ({ sourceBranch }) => sourceBranch === 'topic'),
    one('target_branch', 'stable', ({ targetBranch }) => targetBranch === 'stable'),
    one('source_project_id', projects[0]!.project.id, ({ source }) => source === projects[0]),
    { ...one('wip', 'yes', isDraft), only: ['all', 'project'] },
    { ...one('wip', 'no', (each, caller) => !isDraft(each, caller)), only: ['all', 'project'] },
    { ...one('iids', [1, 3, 5, 7, 11], ({ iid }) => [1, 3, 5, 7, 11].includes(iid)), only: ['project'] },
    one('created_after', some.created, ({ created }) => created >= some.created),
    one('created_before', some.created, ({ created }) => created <= some.created),
    one('updated_after', some.updated, ({ updated }) => updated >= some.updated),
    one('updated_before', some.updated, ({ updated }) => updated <= some.updated),
  ]
}

function sorted(
  mergeRequests: readonly ModelMergeRequest[],
  by: (typeof mergeRequestOrders)[number],
  sort: string,
): ModelMergeRequest[] {
  const key = { created_at: 'created', updated_at: 'updated' } as const
  return sortedBy(mergeRequests, (each) => [each[key[by]]], sort)
}

test('any filters together, in any order and on any page, list the merge requests that a plain filter of all leaves', async () => {
  // Administrators see the merge requests of all tests of a shared world.
  await using world = await World.start()
  const random = new Random(20_261_128)
  const model = await makeModel(world, random)
  const { group, projects, callers, mergeRequests } = model
  const filters = filtersOf(model)
  const readable = mayRead(world)
  const places = [
    { kind: 'all', path: '', holds: () => true },
    {
      kind: 'group',
      path: `/groups/${group.id}`,
      holds: ({ in: { inGroup, archived } }: ModelMergeRequest) => inGroup && !archived,
    },
    ...projects.map((each) => ({
      kind: 'project' as const,
      path: `/projects/${each.project.id}`,
      holds: (mergeRequest: ModelMergeRequest) => mergeRequest.in === each,
    })),
  ] as const
  const cases = [...filters.map((filter) => [filter]), ...pairsOf(filters, random)]
  let found = 0
  for (const chosen of cases) {
    const caller = random.pick(callers)
    const suitable = places.filter(({ kind }) => chosen.every(({ only }) => !only || only.includes(kind)))
    if (suitable.length === 0) continue
    // Most are outside of any one project.
    const place = random.chance(0.6) ? suitable[0]! : random.pick(suitable)
    const [by, sort] = [random.pick(mergeRequestOrders), random.pick(['asc', 'desc'])]
    const needsScope = place.kind === 'all' && chosen.every(({ name }) => name !== 'scope')
    const query = queryOf(chosen, { ...(needsScope && { scope: 'all' }), order_by: by, sort, per_page: 100 })
    const what = `${caller.client.username} ${place.path}/merge_requests?${decodeURIComponent(query)}`
    const matching = mergeRequests.filter(
      (each) => place.holds(each) && readable(caller, each) && chosen.every(({ matches }) => matches(each, caller)),
    )
    const listed = await caller.client.get(`${place.path}/merge_requests?${query}`)
    if (listed.status !== 200) {
      // A project of which the caller does not see the merge requests.
      expect([403, 404], what).toContain(listed.status)
      expect(matching, what).toEqual([])
      continue
    }
    expectListed(listed, sorted(matching, by, sort), what)
    found += matching.length
  }
  expect(found).toBeGreaterThan(cases.length)

  // The pages of each order, one after the other, have every merge request once; one beyond them has none.
  for (const by of mergeRequestOrders)
    for (const sort of ['asc', 'desc'])
      for (const caller of [callers[0]!, random.pick(callers.slice(1))]) {
        const path = `/merge_requests?scope=all&order_by=${by}&sort=${sort}`
        const listed = await idsOfPages(caller.client, path)
        const all = sorted(
          mergeRequests.filter((each) => readable(caller, each)),
          by,
          sort,
        )
        expect(listed, `${caller.client.username} by ${by} ${sort}`).toEqual(idsOf(all))
        const beyond = await caller.client.get(`${path}&page=5000`)
        expect([beyond.json, Number(beyond.headers['x-total'])]).toEqual([[], all.length])
      }
})
