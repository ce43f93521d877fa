import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { compareAccess } from '../../../../test/recompute-access.ts'
import { type Client, unique, World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { Failure } from '../../../kernel/failure.ts'
import { editGroup } from '../../groups/groups/edit.ts'
import { removeGroup } from '../../groups/groups/jobs.ts'
import { createGroup, deleteGroup } from '../../groups/groups/service.ts'
import { loadGroup } from '../../groups/groups/subject.ts'
import { purgeExpiredMembers } from '../../groups/members/jobs.ts'
import {
  addMember,
  editMember,
  groupMembership,
  projectMembership,
  removeMember,
} from '../../groups/members/service.ts'
import { shareGroup, shareProject, unshareGroup, unshareProject } from '../../groups/shares/service.ts'
import { transferGroup } from '../../lifecycle/transfers/group-transfer.ts'
import { transferProject } from '../../lifecycle/transfers/project-transfer.ts'
import { createProject, deleteProject } from '../../projects/projects/service.ts'
import { loadProject } from '../../projects/projects/subject.ts'
import { readableNamespace } from '../namespaces/find.ts'

let world: World
let ctx: Ctx
let people: Client[]

beforeAll(async () => {
  world = await World.start()
  people = await Promise.all(Array.from({ length: 3 }, () => world.user()))
  ctx = await contextFor(world, world.root)
})
afterAll(() => world[Symbol.asyncDispose]())

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

/** What the operations have created so far. */
type Made = { groups: number[]; projects: number[] }

const pick = <T>(all: readonly T[], at: number): T | undefined => all[at % all.length]

const index = fc.nat(7)
const person = fc.nat(2)
const level = fc.constantFrom(10, 20, 30, 40, 50)
/** Expired, expiring, without expiry. */
const ends = fc.constantFrom(null, null, -1, 0, 1, 3)
const on = (offset: number | null): string | null => (offset === null ? null : day(offset))

type Operation = (made: Made) => Promise<unknown>

const membership = async (made: Made, ofProject: boolean, at: number) => {
  if (ofProject) {
    const project = await loadProject(String(pick(made.projects, at)), ctx)
    return project && projectMembership(ctx.db, ctx.plan, project)
  }
  const group = await loadGroup(pick(made.groups, at) ?? 0, ctx)
  return group && groupMembership(group)
}

const operations: Record<string, fc.Arbitrary<Operation>> = {
  createGroup: fc.tuple(index, fc.boolean()).map(([at, nested]) => async (made: Made) => {
    const parent = nested ? pick(made.groups, at) : undefined
    const path = unique('g')
    made.groups.push(await createGroup(ctx, { name: path, path, ...(parent !== undefined && { parent_id: parent }) }))
  }),
  createProject: index.map((at) => async (made: Made) => {
    const name = unique('p')
    const namespace_id = pick(made.groups, at)
    if (namespace_id !== undefined) made.projects.push((await createProject(ctx, { name, namespace_id }, 1)).id)
  }),
  setMember: fc
    .tuple(fc.boolean(), index, person, level, ends)
    .map(([ofProject, at, who, to, until]) => async (made: Made) => {
      const of = await membership(made, ofProject, at)
      if (!of) return
      const member = { userId: people[who]!.id, level: to, expiresAt: on(until) }
      await addMember(ctx, of, member).catch((error) => {
        if (error instanceof Failure && error.kind === 'conflict') return editMember(ctx, of, member)
        throw error
      })
    }),
  removeMember: fc.tuple(fc.boolean(), index, person).map(([ofProject, at, who]) => async (made: Made) => {
    const of = await membership(made, ofProject, at)
    if (of) await removeMember(ctx, of, people[who]!.id, async () => true)
  }),
  shareProject: fc
    .tuple(index, index, fc.constantFrom(10, 30, 40), ends)
    .map(([at, withAt, level, until]) => async (made: Made) => {
      const project = await loadProject(String(pick(made.projects, at)), ctx)
      if (project) await shareProject(ctx, project, pick(made.groups, withAt) ?? 0, { level, expiresAt: on(until) })
    }),
  unshareProject: fc.tuple(index, index).map(([at, withAt]) => async (made: Made) => {
    const project = await loadProject(String(pick(made.projects, at)), ctx)
    if (project) await unshareProject(ctx, project, pick(made.groups, withAt) ?? 0)
  }),
  shareGroup: fc.tuple(index, index, level, ends).map(([at, withAt, level, until]) => async (made: Made) => {
    const group = await loadGroup(pick(made.groups, at) ?? 0, ctx)
    if (group) await shareGroup(ctx, group, pick(made.groups, withAt) ?? 0, { level, expiresAt: on(until) })
  }),
  unshareGroup: fc.tuple(index, index).map(([at, withAt]) => async (made: Made) => {
    const group = await loadGroup(pick(made.groups, at) ?? 0, ctx)
    if (group) await unshareGroup(ctx, group, pick(made.groups, withAt) ?? 0)
  }),
  transferProject: fc.tuple(index, index).map(([at, toAt]) => async (made: Made) => {
    const project = await loadProject(String(pick(made.projects, at)), ctx)
    if (project) await transferProject(ctx, project, await readableNamespace(ctx, pick(made.groups, toAt) ?? 0))
  }),
  transferGroup: fc.tuple(index, fc.option(index)).map(([at, toAt]) => async (made: Made) => {
    const group = await loadGroup(pick(made.groups, at) ?? 0, ctx)
    if (group) await transferGroup(ctx, group, toAt === null ? undefined : pick(made.groups, toAt))
  }),
  lockSharing: fc.tuple(index, fc.boolean()).map(([at, share_with_group_lock]) => async (made: Made) => {
    const group = await loadGroup(pick(made.groups, at) ?? 0, ctx)
    if (group) await editGroup(ctx, group, { share_with_group_lock })
  }),
  rename: index.map((at) => async (made: Made) => {
    const group = await loadGroup(pick(made.groups, at) ?? 0, ctx)
    if (group) await editGroup(ctx, group, { path: unique('r') })
  }),
  deleteGroup: fc.tuple(index, fc.boolean()).map(([at, finish]) => async (made: Made) => {
    const group = await loadGroup(pick(made.groups, at) ?? 0, ctx)
    if (!group) return
    await deleteGroup(ctx, group)
    if (finish) await removeGroup.run({ groupId: group.id }, ctx)
  }),
  deleteProject: index.map((at) => async (made: Made) => {
    const project = await loadProject(String(pick(made.projects, at)), ctx)
    if (project) await deleteProject({ ...ctx, settings: { ...ctx.settings, deletion_adjourned_period: 0 } }, project)
  }),
  purge: fc.constant(() => purgeExpiredMembers.run({}, ctx)),
}

const weights: Record<string, number> = {
  createGroup: 6,
  createProject: 4,
  setMember: 10,
  shareProject: 3,
  shareGroup: 2,
  transferProject: 3,
  transferGroup: 3,
}

describe('the access index', () => {
  test('the access index equals a recomputation after any operations', async () => {
    const operation = fc.oneof(
      ...Object.entries(operations).map(([name, arbitrary]) => ({
        weight: weights[name] ?? 1,
        arbitrary: arbitrary.map((run) => ({ run, name, toString: () => name })),
      })),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 30, size: 'max' }), async (all) => {
        const made: Made = { groups: [], projects: [] }
        for (const { run, name } of all) {
          await run(made).catch((error) => {
            // Refused operations change nothing; the comparison shows it.
            if (!(error instanceof Failure)) throw error
          })
          const { stored, expected } = await compareAccess(world)
          expect(stored, `after ${name}`).toEqual(expected)
        }
      }),
      // A failure is reported with what was found by then, instead of ending in the timeout of the test.
      { numRuns: 20, interruptAfterTimeLimit: 40_000 },
    )
  })
})
