import { FormData } from 'undici'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { groupPolicy } from '../../src/access/group-policy.ts'
import { type Level, levels, type Visibility, visibilities } from '../../src/access/levels.ts'
import { allows, type Facts, needsAccount, type Rule } from '../../src/access/policy.ts'
import { projectPolicy } from '../../src/access/project-policy.ts'
import type { Endpoint } from '../../src/api/endpoint.ts'
import { endpoints } from '../../src/modules/endpoints.ts'
import type { GroupRow } from '../../src/modules/groups/groups/queries.ts'
import { groupFacts } from '../../src/modules/groups/groups/subject.ts'
import { openEpic } from '../../src/modules/planning/epics/testing.ts'
import { openIssue } from '../../src/modules/planning/issues/testing.ts'
import type { ProjectRow } from '../../src/modules/projects/projects/queries.ts'
import { projectFacts } from '../../src/modules/projects/projects/subject.ts'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { createSnippet } from '../../src/modules/text/snippets/testing.ts'
import { ensureMember } from '../tables/access.ts'
import { changeProject } from '../tables/projects.ts'
import { type Client, World } from '../world.ts'
import { gitRows, groupRows, otherRows, projectRows, type Row, type Who } from './permissions.ts'

/** In ascending order; external users are strangers who do not see internal projects. */
const callers = [
  'anonymous',
  'external',
  'stranger',
  'guest',
  'reporter',
  'developer',
  'maintainer',
  'owner',
  'administrator',
] as const
type CallerKind = (typeof callers)[number]
const kinds: readonly Visibility[] = ['private', 'internal', 'public']

/** `yes`, or the status of the refusal. */
type Outcome = 'yes' | 401 | 403 | 404

type Cell = { readonly caller: CallerKind; readonly visibility: Visibility; readonly archived: boolean }

const levelOf = (caller: CallerKind): number => (caller in levels ? levels[caller as Level] : 0)

/** The callers who see a project or group of this visibility (supplement, 2.2). */
function sees({ caller, visibility }: Cell): boolean {
  if (visibility === 'public' || levelOf(caller) > 0 || caller === 'administrator') return true
  return visibility === 'internal' && caller === 'stranger'
}

/** The outcome that the supplement requires for a cell. */
function expected(who: Who, cell: Cell): Outcome {
  const [least, others, live] = who.split(' ') as [Level | 'administrator', 'P' | 'L' | '-', 'live'?]
  const { caller, visibility, archived } = cell
  const isOpen = visibility !== 'private' && sees(cell) && others !== '-' && (caller !== 'anonymous' || others === 'P')
  const isMember = least !== 'administrator' && levelOf(caller) >= levels[least]
  if ((isOpen || isMember || caller === 'administrator') && !(live && archived)) return 'yes'
  // Anonymous callers get 401 before anything is looked up, except where anonymous calls may succeed.
  if (caller === 'anonymous') return others === 'P' && !sees(cell) ? 404 : 401
  return sees(cell) ? 403 : 404
}

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

function formWithFile(): FormData {
  const form = new FormData()
  form.set('file', new Blob(['x']), 'x.txt')
  return form
}

/** The fixtures: a group and a project in it, with a member of each level, and an open merge request, an issue, a snippet, a commit and an epic of the group with a discussion each. */
type Place = {
  readonly groupId: number
  readonly projectId: number
  readonly path: string
  readonly sha: string
  readonly iid: number
  readonly discussionId: string
  readonly noteId: number
  readonly issue: { readonly iid: number; readonly discussionId: string; readonly noteId: number }
  readonly snippet: { readonly id: number; readonly discussionId: string; readonly noteId: number }
  readonly epic: { readonly iid: number; readonly discussionId: string; readonly noteId: number }
  readonly commit: { readonly discussionId: string; readonly noteId: number }
}

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
          const group = await world.group({ visibility, members })
          const { id: projectId, full_path: path, repository } = await storedProject(world, { visibility, group })
          const sha = repository.commit({ 'README.md': 'x' })
          const mergeRequest = await openMergeRequest(world, {
            project: { id: projectId, full_path: path, repository },
          })
          const { id: discussionId, notes } = (await world.root.post(`${mergeRequest.at}/discussions`, { body: 'x' }))
            .json
          const issue = await openIssue(world, { project: { id: projectId, full_path: path } })
          const ofIssue = (await world.root.post(`${issue.at}/discussions`, { body: 'x' })).json
          const snippet = await createSnippet(world, {
            project: { id: projectId },
            visibility: 'public',
            file_name: 'README.md',
          })
          const ofSnippet = (await world.root.post(`${snippet.at}/discussions`, { body: 'x' })).json
          const ofCommit = (
            await world.root.post(`/projects/${projectId}/repository/commits/${sha}/discussions`, { body: 'x' })
          ).json
          const epic = await openEpic(world, { group })
          const ofEpic = (await world.root.post(`${epic.at}/discussions`, { body: 'x' })).json
          if (archived) await changeProject(world, projectId, { archived: true })
          places.set(`${visibility} ${archived}`, {
            groupId: group.id,
            projectId,
            path,
            sha,
            iid: mergeRequest.iid,
            discussionId,
            noteId: notes[0].id,
            issue: { iid: issue.iid, discussionId: ofIssue.id, noteId: ofIssue.notes[0].id },
            snippet: { id: snippet.id, discussionId: ofSnippet.id, noteId: ofSnippet.notes[0].id },
            epic: { iid: epic.iid, discussionId: ofEpic.id, noteId: ofEpic.notes[0].id },
            commit: { discussionId: ofCommit.id, noteId: ofCommit.notes[0].id },
          })
        }),
    )
    return () => world[Symbol.asyncDispose]()
  })

  const addVictim = async (holder: 'project_id' | 'namespace_id', id: number): Promise<void> => {
    await ensureMember(world, holder, id, victim.id)
  }

  /** The URL of a row's call, with its parameters filled in. */
  const addressOf = ([call, , , { at = {}, query } = {}]: Row, place: Place, id: number): string => {
    const discussed = call.includes(':issue_iid')
      ? place.issue
      : call.includes(':snippet_id')
        ? place.snippet
        : call.includes(':epic_iid')
          ? place.epic
          : call.includes(':sha/discussions')
            ? place.commit
            : place
    const words: Record<string, string> = {
      ':id': String(id),
      ':forked_from_id': String(id),
      ':sha': place.sha,
      ':merge_request_iid': String(place.iid),
      ':issue_iid': String(place.issue.iid),
      ':snippet_id': String(place.snippet.id),
      ':epic_iid': String(place.epic.iid),
      ':discussion_id': discussed.discussionId,
      ':note_id': String(discussed.noteId),
      ':branch': 'main',
      ':file_path': 'README.md',
      ':user_id': String(victim.id),
      ...at,
    }
    const path = call.split(' ', 2)[1]!.replaceAll(/:\w+/g, (name) => words[name] ?? name)
    return query === undefined ? path : `${path}?${query}`
  }

  async function ask(row: Row, cell: Cell, of: 'Project' | 'Group'): Promise<void> {
    const [call, who, status, { json, headers, file, asks, refused, victim: needsVictim } = {}] = row
    const place = placeOf(cell)
    const id = of === 'Project' ? place.projectId : place.groupId
    if (needsVictim) await addVictim(of === 'Project' ? 'project_id' : 'namespace_id', id)
    const body =
      json && Object.fromEntries(Object.entries(json).map(([name, value]) => [name, value === ':id' ? id : value]))
    const named = asks ? { ...body, [call.startsWith('POST /groups') ? 'parent_id' : 'namespace_id']: id } : body
    const answer = await people[cell.caller].send(call.split(' ', 1)[0]!, addressOf(row, place, id), {
      ...(named && { json: named }),
      ...(headers && { headers }),
      ...(file && { body: formWithFile() }),
    })
    const wanted = expected(who, cell)
    const isRefused = wanted !== 'yes' && refused !== undefined && wanted !== 401
    const statuses = wanted === 'yes' ? [status].flat() : [isRefused ? refused : wanted]
    const what = `${call} by ${cell.caller}, ${cell.visibility}${cell.archived ? ' archived' : ''}: ${answer.text}`
    expect.soft(statuses, what).toContain(answer.status)
    // The 404 of a hidden project or group has its own message; any other 404 is about something in it.
    if (answer.status === 404 && !isRefused)
      expect.soft(answer.json?.message === `404 ${of} Not Found`, what).toBe(wanted === 404)
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
