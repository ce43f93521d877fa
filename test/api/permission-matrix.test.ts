import { beforeAll, describe, expect, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { groupPolicy } from '../../src/access/group-policy.ts'
import { type Level, type Visibility, visibilities } from '../../src/access/levels.ts'
import { allows, type Facts, needsAccount, type Rule } from '../../src/access/policy.ts'
import { projectPolicy } from '../../src/access/project-policy.ts'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/modules/endpoints.ts'
import type { GroupRow } from '../../src/modules/groups/groups/queries.ts'
import { groupFacts } from '../../src/modules/groups/groups/subject.ts'
import type { ProjectRow } from '../../src/modules/projects/projects/queries.ts'
import { projectFacts } from '../../src/modules/projects/projects/subject.ts'
import { ensureMember } from '../tables/access.ts'
import { type Client, World } from '../world.ts'
import {
  type CallerKind,
  type Cell,
  callers,
  callRow,
  expected,
  expectOutcome,
  formWithFile,
  levelOf,
  makePlace,
  type Outcome,
  type Place,
} from './permission-place.ts'
import { gitRows, groupRows, otherRows, projectRows, type Row } from './permissions.ts'

const kinds: readonly Visibility[] = ['private', 'internal', 'public']

const actorOf = (caller: CallerKind): Actor | null =>
  caller === 'anonymous' ? null : ({ admin: caller === 'administrator', external: caller === 'external' } as Actor)

/** What the declared rules decide: first the checks of the HTTP edge, then those of the operation. */
function decided(facts: Facts, caller: CallerKind, visible: Rule, rules: readonly Rule[]): Outcome {
  const actor = actorOf(caller)
  if (actor === null && needsAccount(rules[0]!)) return 401
  if (!allows(visible, actor, facts)) return 404
  if (rules.every((rule) => allows(rule, actor, facts))) return 'yes'
  return actor ? 403 : 401
}

const factsOfProject = ({ caller, visibility, archived }: Cell): Facts =>
  projectFacts({
    visibility: visibilities[visibility],
    level: levelOf(caller) || null,
    archived,
    public_builds: true,
    import_status: 'none',
    forking_access_level: 20,
    issues_access_level: 20,
    repository_access_level: 20,
    merge_requests_access_level: 20,
    builds_access_level: 20,
    wiki_access_level: 20,
    snippets_access_level: 20,
    container_registry_access_level: 20,
  } as ProjectRow)

const factsOfGroup = ({ caller, visibility }: Cell): Facts =>
  groupFacts({
    visibility: visibilities[visibility],
    level: levelOf(caller) || null,
    reads_project_inside: false,
    project_creation_level: 'developer',
    subgroup_creation_level: 'maintainer',
  } as GroupRow)

const routeOf = (call: string): string => call.split(' ', 2).join(' ')
const declared = new Map<string, Endpoint>(endpoints.map((each) => [`${each.method} ${each.path}`, each]))

const cellsOf = (archived: readonly boolean[]): Cell[] =>
  kinds.flatMap((visibility) =>
    archived.flatMap((isArchived) => callers.map((caller) => ({ caller, visibility, archived: isArchived }))),
  )

/** Whether a row covers a declared path. */
const answeredFor = new Set([...projectRows, ...groupRows, ...otherRows].map(([call]) => routeOf(call)))

test('every operation has a row in permissions.ts', () => {
  expect([...declared.keys()].filter((each) => !answeredFor.has(each))).toEqual([])
  expect([...answeredFor].filter((each) => !declared.has(each))).toEqual([])
})

describe('the declared policies match the supplement', () => {
  test.for(projectRows)('the policy of %s is: %s', ([call, who, , { also = [] } = {}]) => {
    const { subject, allow } = declared.get(routeOf(call))!
    const rules = [allow, ...also].map((ability) => subject.policy[ability]!)
    for (const cell of cellsOf([false, true]))
      expect(
        { ...cell, outcome: decided(factsOfProject(cell), cell.caller, subject.policy[subject.visible]!, rules) },
        call,
      ).toEqual({ ...cell, outcome: expected(who, cell) })
  })

  test.for(groupRows)('the policy of %s is: %s', ([call, who, , { also = [], asks } = {}]) => {
    const { subject, allow } = declared.get(routeOf(call))!
    const rules: Rule[] = asks
      ? [groupPolicy[asks as keyof typeof groupPolicy]]
      : [allow, ...also].map((ability) => subject.policy[ability]!)
    for (const cell of cellsOf([false]))
      expect(
        { ...cell, outcome: decided(factsOfGroup(cell), cell.caller, groupPolicy.read_group, rules) },
        call,
      ).toEqual({ ...cell, outcome: expected(who, cell) })
  })

  test.for(gitRows)('the policy of %s over git is: %s', ([, who, ability]) => {
    for (const cell of cellsOf([false, true])) {
      const [visible, rule] = [projectPolicy.read_project, projectPolicy[ability]]
      const may = decided(factsOfProject(cell), cell.caller, visible, [rule]) === 'yes'
      expect({ ...cell, may }).toEqual({ ...cell, may: expected(who, cell) === 'yes' })
    }
  })
})

describe('the service matches the permission matrix', () => {
  let world: World
  let people: Record<CallerKind, Client>
  let victim: Client
  const places = new Map<string, Place>()
  const placeOf = ({ visibility, archived }: Cell): Place => places.get(`${visibility} ${archived}`)!

  beforeAll(async () => {
    world = await World.start({ STITHY_PLAN: 'ultimate' })
    await world.settings({ search_rate_limit: 0 })
    const made = await Promise.all(
      callers.map(async (kind): Promise<[CallerKind, Client]> => {
        if (kind === 'anonymous') return [kind, world.anonymous]
        if (kind === 'administrator') return [kind, world.root]
        return [kind, await world.user({ external: kind === 'external' })]
      }),
    )
    people = Object.fromEntries(made) as typeof people
    victim = await world.user()
    const members = (['guest', 'reporter', 'developer', 'maintainer', 'owner'] as const).map(
      (level): [Client, Level] => [people[level], level],
    )
    await Promise.all(
      cellsOf([false, true])
        .filter(({ caller }) => caller === 'anonymous')
        .map(async ({ visibility, archived }) => {
          places.set(`${visibility} ${archived}`, await makePlace(world, { visibility, archived, members }))
        }),
    )
    return () => world[Symbol.asyncDispose]()
  })

  const addVictim = async (holder: 'project_id' | 'namespace_id', id: number): Promise<void> => {
    await ensureMember(world, holder, id, victim.id)
  }

  async function ask(row: Row, cell: Cell, of: 'Project' | 'Group'): Promise<void> {
    const place = placeOf(cell)
    if (row[3]?.victim)
      await (of === 'Project' ? addVictim('project_id', place.projectId) : addVictim('namespace_id', place.groupId))
    expectOutcome(await callRow(people[cell.caller], row, { of, place, userId: victim.id }), row, cell, of)
  }

  /** Runs rows concurrently, and the cells of each row in sequence. */
  const askAll = (rows: readonly Row[], of: 'Project' | 'Group') =>
    Promise.all(
      rows.map(async (row) => {
        const [, who, , { only, except } = {}] = row
        const both = of === 'Project' ? [false, true] : [false]
        const archived = both.filter((is) => only === undefined || only === (is ? 'archived' : 'live'))
        // Operations that archiving does not affect are tested with one visibility only.
        const isAsked = ({ visibility, archived }: Cell) =>
          visibility !== except && (!archived || visibility === 'private' || who.endsWith('live'))
        for (const cell of cellsOf(archived).filter(isAsked)) await ask(row, cell, of)
      }),
    )

  test('every caller gets the outcome of the permission matrix for projects', () => askAll(projectRows, 'Project'))

  test('every caller gets the outcome of the permission matrix for groups', () => askAll(groupRows, 'Group'))

  test('every caller gets the outcome of the permission matrix for accounts and the instance', async () => {
    for (const [call, who, status, { query, json, file, at = {} } = {}] of otherRows)
      for (const kind of ['anonymous', 'external', 'stranger', 'administrator'] as const) {
        const caller =
          call.startsWith('DELETE /personal') && kind !== 'anonymous' ? await world.as(people[kind]) : people[kind]
        const words: Record<string, string> = { ':id': String(victim.id), ':user_id': String(victim.id), ...at }
        const path = call.split(' ', 2)[1]!.replaceAll(/:\w+/g, (name) => words[name]!)
        const answer = await caller.send(call.split(' ', 1)[0]!, query === undefined ? path : `${path}?${query}`, {
          ...(json && { json }),
          ...(file && { body: formWithFile() }),
        })
        const may = who === 'everyone' || (who === 'signed in' ? kind !== 'anonymous' : kind === 'administrator')
        const wanted = may ? [status].flat() : [kind === 'anonymous' ? 401 : 403]
        expect.soft(wanted, `${call} by ${kind}: ${answer.text}`).toContain(answer.status)
      }
  })

  test('every caller gets the outcome of the permission matrix for git over HTTP', async () => {
    for (const [service, who] of gitRows)
      for (const cell of cellsOf([false, true])) {
        const { token } = people[cell.caller]
        const headers = token ? { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` } : {}
        const answer = await world.anonymous.get(`//${placeOf(cell).path}.git/info/refs?service=${service}`, {
          headers,
        })
        const wanted = expected(who, cell)
        // Git asks for credentials only after a 401.
        const status = wanted === 'yes' ? 200 : cell.caller === 'anonymous' ? 401 : wanted
        expect.soft(answer.status, `${service} by ${cell.caller}, ${cell.visibility} ${cell.archived}`).toBe(status)
      }
  })
})
