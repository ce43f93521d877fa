import type { Random } from '../../../../bench/varied/random.ts'
import { dayFromNow } from '../../../../test/list-model.ts'
import { addEpicIssues } from '../../../../test/tables/epics.ts'
import {
  addDatedMilestones,
  addIssueAssignees,
  addIssueAwards,
  addIssueLabels,
  addIssues,
  addLabelPriorities,
  addLabels,
} from '../../../../test/tables/issues.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import type { Client, TestGroup, TestProject, World } from '../../../../test/world.ts'
import { type Level, levels, type Visibility } from '../../../access/levels.ts'
import { openEpic } from '../epics/testing.ts'

const day = 86_400_000

type ModelMilestone = {
  readonly id: number
  readonly holder: string
  readonly title: string
  readonly state: 'active' | 'closed'
  readonly start: string | null
  readonly due: string | null
}

type ModelProject = {
  readonly project: TestProject
  readonly visibility: Visibility
  readonly membersOnly: boolean
  readonly archived: boolean
  readonly inGroup: boolean
  /** Levels of the callers, by their ids. */
  readonly levels: ReadonlyMap<number, number>
}

type ModelLabel = { readonly id: number; readonly title: string }

export type ModelIssue = {
  readonly id: number
  readonly iid: number
  readonly in: ModelProject
  readonly title: string
  readonly description: string
  readonly author: Client
  readonly assignees: readonly Client[]
  readonly labels: readonly ModelLabel[]
  readonly priority: number | undefined
  readonly milestone: ModelMilestone | undefined
  readonly state: 'opened' | 'closed'
  readonly confidential: boolean
  readonly due: string | null
  readonly weight: number | null
  readonly position: number | null
  readonly created: string
  readonly updated: string
  readonly awards: readonly { readonly user: number; readonly name: string }[]
  readonly epic?: ModelEpic | undefined
}

type ModelEpic = { readonly id: number; readonly readers: readonly Client[] }

export type Caller = { readonly client: Client; readonly admin: boolean; readonly external: boolean }

export type Model = {
  readonly group: TestGroup
  readonly projects: readonly ModelProject[]
  readonly callers: readonly Caller[]
  readonly milestones: readonly ModelMilestone[]
  readonly issues: readonly ModelIssue[]
  readonly epics: readonly ModelEpic[]
}

const titles = ['Broken pipe', 'Slow engine', 'Wrong colour', 'Missing handle', 'Broken engine']
const texts = ['The engine fails', 'It needs a handle', 'Nothing else', '']

/** Random issues in several projects, as rows and in memory. */
export async function makeModel(world: World, random: Random): Promise<Model> {
  const external = await world.user({ external: true })
  const others = await Promise.all([1, 2, 3].map(() => world.user()))
  const [reporter, guest, stranger] = others as [Client, Client, Client]
  const people = [world.root, reporter, guest, stranger, external]
  const callers = people.map((client) => ({ client, admin: client === world.root, external: client === external }))

  const group = await world.group({ visibility: 'public', members: [[reporter, 'reporter']] })
  const below = await world.group({ visibility: 'private', parent: group, members: [[guest, 'guest']] })
  const make = async (
    visibility: Visibility,
    {
      of,
      members = [],
      ...more
    }: {
      of?: TestGroup
      members?: [Client, Level][]
      inherited?: [Client, Level][]
      membersOnly?: boolean
      archived?: boolean
    } = {},
  ): Promise<ModelProject> => {
    const { inherited = [], membersOnly = false, archived = false } = more
    const project = await world.project({ visibility, members, ...(of && { group: of }) })
    if (membersOnly) await world.root.put(`/projects/${project.id}`, { issues_access_level: 'private' })
    if (archived) await changeProject(world, project.id, { archived: true })
    const roles = new Map([...inherited, ...members].map(([who, level]) => [who.id, levels[level]]))
    return { project, visibility, membersOnly, archived, inGroup: of !== undefined, levels: roles }
  }
  const [ofReporter, ofBoth]: [Client, Level][][] = [
    [[reporter, 'reporter']],
    [
      [reporter, 'reporter'],
      [guest, 'guest'],
    ],
  ]
  const projects = [
    await make('public', { of: group, inherited: ofReporter! }),
    await make('private', { of: below, inherited: ofBoth! }),
    await make('internal', { members: [[external, 'guest']] }),
    await make('public', { membersOnly: true, members: [[guest, 'guest']] }),
    await make('public', { of: group, inherited: ofReporter!, archived: true }),
    await make('private', { members: [[external, 'reporter']] }),
    await make('public'),
  ]

  const labelRows = [
    ...['bug', 'Feature', 'docs'].map((title) => ({ namespace_id: group.id, title, color: '#ff0000' })),
    ...projects
      .filter(({ inGroup }) => !inGroup)
      .flatMap(({ project: { id } }) =>
        ['Bug', 'feature'].map((title) => ({ project_id: id, title, color: '#00ff00' })),
      ),
  ]
  const labelIds = await addLabels(world, labelRows)
  const labels = labelRows.map((row, index) => ({ ...row, id: labelIds[index]! }))
  const labelsOf = ({ inGroup, project }: ModelProject) =>
    labels.filter((label) =>
      inGroup ? 'namespace_id' in label : 'project_id' in label && label.project_id === project.id,
    )
  const priorities = projects.flatMap((each) =>
    labelsOf(each).flatMap((label) =>
      random.chance(0.6) ? [{ project_id: each.project.id, label_id: label.id, priority: random.whole(0, 3) }] : [],
    ),
  )
  await addLabelPriorities(world, priorities)

  const dates = (start: number | null, due: number | null) => ({
    start_date: start === null ? null : dayFromNow(start),
    due_date: due === null ? null : dayFromNow(due),
  })
  const holders = [
    { namespace_id: group.id },
    ...projects.filter(({ inGroup }) => !inGroup).map(({ project }) => ({ project_id: project.id })),
  ]
  const milestoneRows = holders.flatMap((holder) => [
    { ...holder, iid: 1, title: '1.0', state: 'active' as const, ...dates(-5, 5) },
    { ...holder, iid: 2, title: '2.0', state: 'active' as const, ...dates(3, 20) },
    { ...holder, iid: 3, title: '3.0', state: 'closed' as const, ...dates(-20, 2) },
    { ...holder, iid: 4, title: 'Later', state: 'active' as const, ...dates(null, null) },
  ])
  const milestoneIds = await addDatedMilestones(world, milestoneRows)
  const milestones = milestoneRows.map(
    ({ title, state, start_date, due_date, iid: _, ...holder }, index): ModelMilestone => ({
      id: milestoneIds[index]!,
      holder: JSON.stringify(holder),
      title,
      state,
      start: start_date,
      due: due_date,
    }),
  )
  const milestonesOf = ({ inGroup, project }: ModelProject) =>
    milestones.filter(
      ({ holder }) => holder === JSON.stringify(inGroup ? { namespace_id: group.id } : { project_id: project.id }),
    )

  const counts = new Map<ModelProject, number>()
  const priorityIn = ({ project }: ModelProject, own: readonly ModelLabel[]) => {
    const found = priorities.filter(
      ({ project_id, label_id }) => project_id === project.id && own.some(({ id }) => id === label_id),
    )
    return found.length === 0 ? undefined : Math.min(...found.map(({ priority }) => priority))
  }
  const at = () => new Date(Date.now() - random.whole(0, 39) * day - random.whole(0, 2)).toISOString()
  const planned = Array.from({ length: 200 }, (_, index): ModelIssue => {
    const place = random.pick(projects)
    const iid = (counts.get(place) ?? 0) + 1
    counts.set(place, iid)
    const own = random.some(labelsOf(place), 35)
    const created = at()
    return {
      id: index,
      iid,
      in: place,
      title: random.pick(titles),
      description: random.pick(texts),
      author: random.pick(people),
      assignees: random.some(people, 0.15),
      labels: own,
      priority: priorityIn(place, own),
      milestone: random.chance(0.6) ? random.pick(milestonesOf(place)) : undefined,
      state: random.chance(0.65) ? 'opened' : 'closed',
      confidential: random.chance(0.35),
      due: random.chance(0.6) ? dayFromNow(random.whole(0, 89) - 40) : null,
      weight: random.chance(0.5) ? random.whole(0, 3) : null,
      position: random.chance(0.5) ? random.whole(0, 999) : null,
      created,
      updated: random.chance(0.5) ? created : new Date(Date.now() - random.whole(0, 999)).toISOString(),
      awards: people.flatMap(({ id }) => random.some(['thumbsup', 'tada'], 0.15).map((name) => ({ user: id, name }))),
    }
  })
  const ids = await addIssues(
    world,
    planned.map((each) => ({
      iid: each.iid,
      project_id: each.in.project.id,
      title: each.title,
      description: each.description,
      author_id: each.author.id,
      state: each.state,
      confidential: each.confidential,
      milestone_id: each.milestone?.id ?? null,
      due_date: each.due,
      weight: each.weight,
      relative_position: each.position,
      created_at: each.created,
      updated_at: each.updated,
    })),
  )
  const issues = planned.map((each, index) => ({ ...each, id: ids[index]! }))
  await addIssueAssignees(
    world,
    issues.flatMap(({ id, assignees }) => assignees.map((user) => ({ issue_id: id, user_id: user.id }))),
  )
  await addIssueLabels(
    world,
    issues.flatMap(({ id, labels }) => labels.map((label) => ({ issue_id: id, label_id: label.id }))),
  )
  await addIssueAwards(
    world,
    issues.flatMap(({ id, awards }) => awards.map(({ user, name }) => ({ issue_id: id, user_id: user, name }))),
  )
  const epics: ModelEpic[] = []
  for (const [holder, confidential, readers] of [
    [group, false, people],
    [group, true, [world.root, reporter]],
    [below, false, [world.root, reporter, guest]],
  ] as const)
    epics.push({ id: (await openEpic(world, { group: holder, confidential })).id, readers })
  const withEpics = issues.map((issue) => {
    const usable = issue.in === projects[1] ? epics : issue.in.inGroup ? epics.slice(0, 2) : []
    return usable.length > 0 && random.chance(0.6) ? { ...issue, epic: random.pick(usable) } : issue
  })
  await addEpicIssues(
    world,
    withEpics.flatMap(({ id, epic }, index) =>
      epic ? [{ epic_id: epic.id, issue_id: id, relative_position: index }] : [],
    ),
  )
  return { group, projects, callers, milestones, issues: withEpics, epics }
}

/** Whether the caller may read an issue. */
export function mayRead({ client, admin, external }: Caller, issue: ModelIssue): boolean {
  if (admin) return true
  const { visibility, membersOnly, levels: roles } = issue.in
  const level = roles.get(client.id) ?? 0
  const open = visibility === 'public' || (visibility === 'internal' && !external)
  if (level < levels.guest && (!open || membersOnly)) return false
  return !issue.confidential || level >= levels.reporter || issue.author === client || issue.assignees.includes(client)
}
