import { beforeAll, describe, expect, test } from 'vitest'
import { actorFor } from '../../../../test/contexts.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import type { World } from '../../../../test/world.ts'
import type { Actor } from '../../../access/actor.ts'
import { groupPolicy } from '../../../access/group-policy.ts'
import { levels } from '../../../access/levels.ts'
import { allows, hasFeature } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { List } from '../../../api/list.ts'
import { and, raw, type Sql, sql } from '../../../db/sql.ts'
import { readersOf } from '../../discussion/noteables/queries.ts'
import { listGroups } from '../../groups/groups/list-queries.ts'
import { findGroup } from '../../groups/groups/queries.ts'
import { groupFacts } from '../../groups/groups/subject.ts'
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
import { visibleGroups } from '../namespaces/visible-groups-queries.ts'
import { projectWhere } from './queries.ts'
import { type Arrangement, arranged, featureCases, type Kind, kinds, sees, type Tree, visibilities } from './testing.ts'

let world: World
let trees: Arrangement['trees']
let callers: Arrangement['callers']

beforeAll(async () => {
  ;({ world, trees, callers } = await arranged())
  return () => world[Symbol.asyncDispose]()
})

const cases = (Object.keys(kinds) as Kind[]).flatMap((kind) =>
  visibilities.map((visibility) => ({ kind, visibility, level: kinds[kind] })),
)

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

  test.for(featureCases)(
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

  test.for(featureCases)(
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
