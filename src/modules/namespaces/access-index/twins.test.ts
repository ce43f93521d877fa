import { beforeAll, describe, expect, test } from 'vitest'
import { actorFor } from '../../../../test/contexts.ts'
import { moveEndOfAccess, moveEndOfMemberships, shareProject } from '../../../../test/tables/access.ts'
import { changeSnippet } from '../../../../test/tables/text.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { type Client, type TestGroup, type TestProject, World } from '../../../../test/world.ts'
import type { Actor, Caller } from '../../../access/actor.ts'
import { groupPolicy } from '../../../access/group-policy.ts'
import { issuePolicy } from '../../../access/issue-policy.ts'
import { levels, type Visibility } from '../../../access/levels.ts'
import { allows, hasFeature } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { snippetPolicy } from '../../../access/snippet-policy.ts'
import type { List } from '../../../api/page.ts'
import { and, raw, type Sql, sql } from '../../../db/sql.ts'
import { readableRow, readersOf, readersOfRow } from '../../discussion/noteables/queries.ts'
import { listGroups } from '../../groups/groups/list-queries.ts'
import { findGroup } from '../../groups/groups/queries.ts'
import { groupFacts } from '../../groups/groups/subject.ts'
import { findIssue } from '../../planning/issues/queries.ts'
import { issueFacts } from '../../planning/issues/subject.ts'
import { listProjects } from '../../projects/projects/list-queries.ts'
import {
  findProject,
  readableCode,
  readableMergeRequests,
  readableWiki,
  visibleProject,
  visibleProjects,
} from '../../projects/projects/queries.ts'
import { projectFacts } from '../../projects/projects/subject.ts'
import { readableImages } from '../../registry/images/queries.ts'
import { findProjectSnippet } from '../../text/snippets/queries.ts'
import { snippetFacts } from '../../text/snippets/subject.ts'
import { createSnippet } from '../../text/snippets/testing.ts'
import { visibleGroups } from '../namespaces/visible-groups-queries.ts'
import { projectWhere } from './queries.ts'

/** Level of each kind of caller in the project; that of anonymous callers depends on the visibility only. */
const kinds = {
  'an anonymous caller': 0,
  'a stranger': 0,
  'an external user': 0,
  'an external guest': 10,
  'a guest': 10,
  'a reporter': 20,
  'a developer': 30,
  'a maintainer': 40,
  'an owner of the group': 50,
  'a member of the ancestor group': 30,
  'a member through a share': 20,
  'a member through a share with an ancestor group': 10,
  'a member of others': 0,
  'a former member': 0,
  'a former group member': 0,
  'a member through an expired share': 0,
  'a member with a lower role than above': 40,
  'a member with a lower role for longer': 40,
  'a group member with a lower role for longer': 40,
  'an administrator': 0,
} as const
type Kind = keyof typeof kinds

const visibilities: readonly Visibility[] = ['private', 'internal', 'public']
const features = ['disabled', 'private', 'enabled'] as const

type Tree = { top: TestGroup; group: TestGroup; project: TestProject }

let world: World
const trees = new Map<Visibility, Tree>()
const callers = new Map<Kind, Caller>()

beforeAll(async () => {
  world = await World.start()
  const people = new Map<Kind, Client>()
  for (const kind of Object.keys(kinds) as Kind[])
    if (kind !== 'an anonymous caller' && kind !== 'an administrator')
      people.set(kind, await world.user({ external: kind.includes('external') }))
  const add = async (path: string, kind: Kind, access_level: number, more: object = {}) => {
    const added = await world.root.post(`${path}/members`, { user_id: people.get(kind)!.id, access_level, ...more })
    expect(added.status, added.text).toBe(201)
  }
  const elsewhere = await world.project()
  await add(`/projects/${elsewhere.id}`, 'a member of others', 40)
  await add(`/groups/${(await world.group()).id}`, 'a member of others', 50)
  const over = await world.group()
  const partners = await world.group({ parent: over })
  await add(`/groups/${partners.id}`, 'a member through a share', 50)
  await add(`/groups/${partners.id}`, 'a member with a lower role for longer', 50)
  await add(`/groups/${over.id}`, 'a member through a share with an ancestor group', 10)
  const former = await world.group()
  await add(`/groups/${former.id}`, 'a member through an expired share', 40)
  for (const visibility of visibilities) {
    const top = await world.group({ visibility })
    const group = await world.group({ visibility, parent: top })
    const project = await world.project({ visibility, group })
    trees.set(visibility, { top, group, project })
    const own = `/projects/${project.id}`
    await add(own, 'an external guest', 10)
    await add(own, 'a guest', 10)
    await add(own, 'a reporter', 20)
    await add(own, 'a developer', 30)
    await add(own, 'a maintainer', 40)
    await add(`/groups/${group.id}`, 'an owner of the group', 50)
    await add(`/groups/${top.id}`, 'a member of the ancestor group', 30)
    await add(own, 'a former member', 40, { expires_at: '2099-01-01' })
    await add(`/groups/${group.id}`, 'a former group member', 40, { expires_at: '2099-01-01' })
    await add(own, 'a member with a lower role than above', 10)
    await add(`/groups/${top.id}`, 'a member with a lower role than above', 40)
    await add(own, 'a member with a lower role for longer', 40, { expires_at: '2098-01-01' })
    await add(`/groups/${top.id}`, 'a group member with a lower role for longer', 30)
    await add(`/groups/${group.id}`, 'a group member with a lower role for longer', 40, { expires_at: '2098-01-01' })
    await shareProject(world, project.id, partners.id, 20)
    await shareProject(world, project.id, former.id, 40, '2020-01-01')
    // Recomputes who has access through these.
    await world.root.put(`/groups/${group.id}`, { share_with_group_lock: false })
  }
  // The state after midnight: the day has come, and nothing was recomputed.
  await moveEndOfMemberships(world, '2099-01-01')
  for (const table of ['group_access', 'project_access'] as const) await moveEndOfAccess(world, table, '2099-01-01')
  for (const [kind, client] of people) callers.set(kind, await actorFor(world, client))
  callers.set('an anonymous caller', null)
  callers.set('an administrator', await actorFor(world, world.root))
  return () => world[Symbol.asyncDispose]()
})

const cases = (Object.keys(kinds) as Kind[]).flatMap((kind) =>
  visibilities.map((visibility) => ({ kind, visibility, level: kinds[kind] })),
)

/** Who sees a project or group of this visibility according to the documents. */
const sees = (kind: Kind, visibility: Visibility): boolean =>
  kind === 'an administrator' ||
  kinds[kind] > 0 ||
  visibility === 'public' ||
  (visibility === 'internal' && kind !== 'an anonymous caller' && kind !== 'an external user')

/** In how many parts of a list the row is: one, or none if the list does not contain it. */
async function timesListed(list: List, row: Sql): Promise<number> {
  let times = 0
  for (const part of list.parts ?? [{ where: raw('true') }])
    if (await world.db.exists(sql`select ${list.from} where ${and([row, ...list.where, part.where])}`)) times++
  return times
}

describe('policies and their SQL equivalents', () => {
  test.for(cases)('policy and SQL agree about a $visibility project and $kind', async ({ kind, visibility, level }) => {
    const caller = callers.get(kind)!
    const { project } = trees.get(visibility)!
    const row = (await findProject(world.db, caller, project.id))!
    const facts = projectFacts(row)
    if (kind !== 'an administrator') expect(facts.level).toBe(level)

    for (const twin of [visibleProjects, visibleProject])
      expect(
        await world.db.exists(sql`select from projects p where p.id = ${project.id} and ${twin(caller)}`),
        twin.name,
      ).toBe(sees(kind, visibility))
    expect(allows(projectPolicy.read_project, caller, facts)).toBe(sees(kind, visibility))

    if (caller === null) return
    for (const least of [10, 20, 30, 40, 50]) {
      const condition = projectWhere(caller, least, raw('p.id'), raw('p.namespace_id'))
      const found = await world.db.exists(sql`select from projects p where p.id = ${project.id} and ${condition}`)
      expect(found, `level ${least}`).toBe(facts.level >= least)
    }
  })

  test.for(cases)('policy and SQL agree about groups, $visibility project and $kind', async ({ kind, visibility }) => {
    const caller = callers.get(kind)!
    const { top, group } = trees.get(visibility)!
    // Members of the project read both groups.
    for (const { id } of [top, group]) {
      const row = (await findGroup(world.db, caller, id))!
      const visible = await world.db.exists(
        sql`select from namespaces g where g.id = ${id} and ${visibleGroups(caller)}`,
      )
      expect(visible).toBe(sees(kind, visibility))
      expect(allows(groupPolicy.read_group, caller, groupFacts(row))).toBe(sees(kind, visibility))
      const filters = { all_available: true, order_by: 'id', sort: 'asc', owned: false } as const
      const list = listGroups(caller, { of: 'everyone' }, filters, { statistics: false })
      expect(await timesListed(list, sql`g.id = ${id}`)).toBe(visible ? 1 : 0)
    }
  })

  test.for(visibilities.flatMap((visibility) => features.map((level) => ({ visibility, level }))))(
    'policy and SQL agree about features that are $level in a $visibility project',
    async ({ visibility, level }) => {
      const { project } = trees.get(visibility)!
      await world.root.put(`/projects/${project.id}`, {
        issues_access_level: level,
        merge_requests_access_level: level,
      })
      for (const [kind, caller] of callers) {
        const facts = projectFacts((await findProject(world.db, caller, project.id))!)
        for (const feature of ['issues', 'merge_requests'] as const) {
          const list = listProjects(
            caller,
            { of: 'everyone' },
            { order_by: 'id', sort: 'asc', [`with_${feature}_enabled`]: true },
            {},
          )
          const listed = await timesListed(list, sql`p.id = ${project.id}`)
          const least = feature === 'issues' ? levels.guest : levels.reporter
          const member = kind === 'an administrator' || kinds[kind] >= least
          const expected = level === 'enabled' || (level === 'private' && member)
          expect(hasFeature(feature, caller, facts), `${feature}, ${kind}`).toBe(expected)
          expect(listed, `${feature}, ${kind}`).toBe(expected && sees(kind, visibility) ? 1 : 0)
        }
      }
    },
  )

  test.for(visibilities.flatMap((visibility) => features.map((level) => ({ visibility, level }))))(
    'policy and SQL agree about code, merge requests, wikis and images, $visibility and $level',
    async ({ visibility, level }) => {
      const { project } = trees.get(visibility)!
      const all = {
        repository_access_level: level,
        merge_requests_access_level: level,
        builds_access_level: level,
        wiki_access_level: level,
        container_registry_access_level: level,
      }
      expect((await world.root.put(`/projects/${project.id}`, all)).status).toBe(200)
      for (const [kind, caller] of callers) {
        const facts = projectFacts((await findProject(world.db, caller, project.id))!)
        const found = await world.db.exists(
          sql`
            select from projects p where p.id = ${project.id} and ${visibleProjects(caller)} and ${readableCode(caller)}
          `,
        )
        expect(found, kind).toBe(allows(projectPolicy.read_code, caller, facts))
        const readable = await world.db.exists(
          sql`
            select
            from projects p
            where p.id = ${project.id} and ${visibleProjects(caller)} and ${readableMergeRequests(caller)}
          `,
        )
        expect(readable, kind).toBe(allows(projectPolicy.read_merge_request, caller, facts))
        const wiki = await world.db.exists(
          sql`
            select from projects p where p.id = ${project.id} and ${visibleProjects(caller)} and ${readableWiki(caller)}
          `,
        )
        expect(wiki, kind).toBe(allows(projectPolicy.read_wiki, caller, facts))
        const images = await world.db.exists(
          sql`
            select
            from projects p
            where p.id = ${project.id} and ${visibleProjects(caller)} and ${readableImages(caller)}
          `,
        )
        expect(images, kind).toBe(allows(projectPolicy.read_container_image, caller, facts))
        if (caller === null) continue
        const codeReader = await world.db.exists(
          sql`
            select
            from users u, projects p
            where u.id = ${caller.id} and p.id = ${project.id} and ${readersOf('Commit')}
          `,
        )
        expect(codeReader, kind).toBe(allows(projectPolicy.read_code, caller, facts))
        const reader = await world.db.exists(
          sql`
            select
            from users u, projects p
            where u.id = ${caller.id} and p.id = ${project.id} and ${readersOf('MergeRequest')}
          `,
        )
        expect(reader, kind).toBe(allows(projectPolicy.read_merge_request, caller, facts))
      }
    },
  )

  test.for(visibilities.flatMap((visibility) => features.map((level) => ({ visibility, level }))))(
    'policy and SQL agree about issues, confidential or not, $visibility and $level',
    async ({ visibility, level }) => {
      const { project } = trees.get(visibility)!
      const enable = (issues_access_level: string) => world.root.put(`/projects/${project.id}`, { issues_access_level })
      await enable('enabled')
      const assignees = ['a guest', 'a stranger', 'an external user', 'a former member'] as const
      const assignee_ids = assignees.map((kind) => callers.get(kind)!.id)
      const opened = await Promise.all(
        [{}, { confidential: true }, { confidential: true, assignee_ids }].map(async (attributes) => {
          const made = await world.root.post(`/projects/${project.id}/issues`, { title: 'x', ...attributes })
          expect(made.status, made.text).toBe(201)
          return made.json
        }),
      )
      await enable(level)
      for (const [kind, caller] of callers) {
        const subject = (await findProject(world.db, caller, project.id))!
        const place = { ...subject, facts: projectFacts(subject) }
        for (const { id, iid, confidential } of opened) {
          const row = (await findIssue(world.db, caller, project.id, iid))!
          const may =
            allows(projectPolicy.read_project, caller, place.facts) &&
            allows(issuePolicy.read_issue, caller, issueFacts(row, place))
          const what = `${kind}, ${confidential ? 'confidential' : 'open'} ${iid}`
          const readable = await world.db.exists(
            sql`
              select
              from issues m join projects p on p.id = m.project_id
              where m.id = ${id} and ${visibleProjects(caller)} and ${readableRow('Issue', caller)}
            `,
          )
          expect(readable, what).toBe(may)
          if (caller === null) continue
          const reader = await world.db.exists(
            sql`
              select
              from users u, issues m join projects p on p.id = m.project_id
              where u.id = ${caller.id} and m.id = ${id} and ${readersOfRow('Issue')}
            `,
          )
          expect(reader, what).toBe(may)
        }
      }
    },
  )

  test.for(visibilities.flatMap((visibility) => features.map((level) => ({ visibility, level }))))(
    'policy and SQL agree about snippets of each visibility, $visibility and $level',
    async ({ visibility, level }) => {
      const { project } = trees.get(visibility)!
      const enable = (snippets_access_level: string) =>
        world.root.put(`/projects/${project.id}`, { snippets_access_level })
      await enable('enabled')
      const ids = await Promise.all(
        visibilities.map(async (own) => (await createSnippet(world, { project, visibility: own })).id),
      )
      const authors = ['a stranger', 'an external user', 'a guest'] as const
      for (const kind of authors) {
        const { id } = await createSnippet(world, { project, visibility: 'private' })
        await changeSnippet(world, id, { author_id: callers.get(kind)!.id })
        ids.push(id)
      }
      await enable(level)
      for (const [kind, caller] of callers) {
        const subject = (await findProject(world.db, caller, project.id))!
        const place = { ...subject, facts: projectFacts(subject) }
        for (const [index, id] of ids.entries()) {
          const row = (await findProjectSnippet(world.db, caller, project.id, id))!
          const may =
            allows(projectPolicy.read_project, caller, place.facts) &&
            allows(snippetPolicy.read_snippet, caller, snippetFacts(caller, row, place))
          const what = `${kind}, ${visibilities[index] ?? `private of ${authors[index - 3]}`}`
          const readable = await world.db.exists(
            sql`
              select
              from snippets m join projects p on p.id = m.project_id
              where m.id = ${id} and ${visibleProjects(caller)} and ${readableRow('Snippet', caller)}
            `,
          )
          expect(readable, what).toBe(may)
          if (caller === null) continue
          const reader = await world.db.exists(
            sql`
              select
              from users u, snippets m join projects p on p.id = m.project_id
              where u.id = ${caller.id} and m.id = ${id} and ${readersOfRow('Snippet')}
            `,
          )
          expect(reader, what).toBe(may)
        }
      }
    },
  )

  /** Limits of a token, by what they name, and whether they cover the project, its group and the group above. */
  const limits = {
    'its project': {
      of: ({ project }: Tree) => ({ projects: [project.id], groups: [] }),
      covers: [true, false, false],
    },
    'its group': { of: ({ group }: Tree) => ({ projects: [], groups: [group.id] }), covers: [true, true, false] },
    'the group above': { of: ({ top }: Tree) => ({ projects: [], groups: [top.id] }), covers: [true, true, true] },
    nothing: { of: () => ({ projects: [], groups: [] }), covers: [false, false, false] },
  } as const

  test.for(
    visibilities.flatMap((visibility) =>
      (Object.keys(limits) as (keyof typeof limits)[]).map((to) => ({ visibility, to })),
    ),
  )('policy and SQL agree about a $visibility project and tokens limited to $to', async ({ visibility, to }) => {
    const tree = trees.get(visibility)!
    const { project, group, top } = tree
    const [coversProject, coversGroup, coversTop] = limits[to].covers
    await world.root.put(`/projects/${project.id}`, {
      repository_access_level: 'enabled',
      merge_requests_access_level: 'enabled',
      container_registry_access_level: 'enabled',
    })
    for (const kind of Object.keys(kinds) as Kind[]) {
      // Without a caller there is no token, and a limited token has no administrator's rights.
      if (kind === 'an anonymous caller' || kind === 'an administrator') continue
      const caller: Actor = { ...callers.get(kind)!, limits: limits[to].of(tree) }
      const facts = projectFacts((await findProject(world.db, caller, project.id))!)
      const holds = (condition: Sql) =>
        world.db.exists(sql`select from projects p where p.id = ${project.id} and ${condition}`)
      const isVisible = coversProject && sees(kind, visibility)
      expect(allows(projectPolicy.read_project, caller, facts), kind).toBe(isVisible)
      for (const twin of [visibleProjects, visibleProject])
        expect(await holds(twin(caller)), `${twin.name}, ${kind}`).toBe(isVisible)
      for (const [twin, rule] of [
        [readableCode, projectPolicy.read_code],
        [readableMergeRequests, projectPolicy.read_merge_request],
        [readableWiki, projectPolicy.read_wiki],
        [readableImages, projectPolicy.read_container_image],
      ] as const)
        expect(await holds(sql`${visibleProjects(caller)} and ${twin(caller)}`), `${twin.name}, ${kind}`).toBe(
          allows(rule, caller, facts),
        )
      for (const [{ id }, covers] of [
        [group, coversGroup],
        [top, coversTop],
      ] as const) {
        const found = (await findGroup(world.db, caller, id))!
        const expected = covers && sees(kind, visibility)
        expect(allows(groupPolicy.read_group, caller, groupFacts(found)), kind).toBe(expected)
        expect(
          await world.db.exists(sql`select from namespaces g where g.id = ${id} and ${visibleGroups(caller)}`),
          kind,
        ).toBe(expected)
      }
    }
  })

  test('users who cannot act are no readers, whatever their memberships', async () => {
    const { project } = trees.get('public')!
    const isReader = async (id: number) =>
      world.db.exists(
        sql`
          select from users u, projects p where u.id = ${id} and p.id = ${project.id} and ${readersOf('MergeRequest')}
        `,
      )
    await world.root.put(`/projects/${project.id}`, { merge_requests_access_level: 'enabled' })
    const ann = await world.user()
    expect(await isReader(ann.id)).toBe(true)
    for (const state of [{ state: 'blocked' }, { state: 'active', kind: 'bot' }]) {
      await changeUser(world, ann.id, state)
      expect(await isReader(ann.id), JSON.stringify(state)).toBe(false)
    }
  })

  test('a blocked account cannot act, whatever its memberships', async () => {
    const ann = await world.user()
    const { project } = trees.get('public')!
    await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 40 })
    await changeUser(world, ann.id, { state: 'blocked' })
    await expect(actorFor(world, ann)).rejects.toThrow('cannot act')
  })
})
