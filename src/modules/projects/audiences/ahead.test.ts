import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { delayOf } from '../../../../test/jobs.ts'
import { changeGroup } from '../../../../test/tables/groups.ts'
import { lockRow, waitingFor } from '../../../../test/tables/instance.ts'
import { addIssues, audienceNumbers, audiencesIn, lockIssue } from '../../../../test/tables/issues.ts'
import { daysAgo } from '../../../../test/tables/statements.ts'
import { test, type World } from '../../../../test/world.ts'
import { removeMarkedGroups } from '../../groups/groups/due-jobs.ts'
import { withAudiencesLowered } from './ahead.ts'
import { restoreAudiences } from './jobs.ts'

/** A public project in a public group, with enough issues that their audiences are lowered ahead. */
async function crowded(world: World) {
  const group = await world.group({ visibility: 'public' })
  const project = await world.project({ group, visibility: 'public' })
  const created_at = '2026-01-01T00:00:00Z'
  const issue = (iid: number) => ({
    iid,
    ...{
      project_id: project.id,
      title: `Issue ${iid}`,
      description: '',
      author_id: world.root.id,
      state: 'opened' as const,
    },
    ...{ confidential: iid === 1, milestone_id: null, due_date: null, weight: null, relative_position: null },
    ...{ created_at, updated_at: created_at },
  })
  await addIssues(
    world,
    Array.from({ length: 2002 }, (_, at) => issue(at + 1)),
  )
  return { group, project }
}

type Crowded = Awaited<ReturnType<typeof crowded>>

test.beforeEach(({ world }) => world.settings({ deletion_adjourned_period: 0 }))

test.for<[string, (world: World, place: Crowded) => Promise<{ status: number }>]>([
  ['a group is deleted', (world, { group }) => world.root.delete(`/groups/${group.id}`)],
  [
    'a group moves below a private one',
    async (world, { group }) =>
      world.root.post(`/groups/${group.id}/transfer`, { group_id: (await world.group({ visibility: 'private' })).id }),
  ],
  [
    'a project moves to a private group',
    async (world, { project }) =>
      world.root.put(`/projects/${project.id}/transfer`, {
        namespace: (await world.group({ visibility: 'private' })).id,
      }),
  ],
])('members are added elsewhere while the audiences of many issues are lowered: %s', async ([, change], { world }) => {
  const place = await crowded(world)
  const [ann, other] = [await world.user(), await world.group()]
  const { changed } = await world.db.transaction(async (tx) => {
    await lockIssue(tx, place.project.id, 2)
    const changed = change(world, place)
    await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
    const added = await world.root.post(`/groups/${other.id}/members`, { user_id: ann.id, access_level: 30 })
    expect(added.status).toBe(201)
    return { changed }
  })
  expect((await changed).status).toBeLessThan(300)
  const { counted, kept } = await audienceNumbers(world)
  expect(kept).toEqual(counted)
})

test('the audiences of a group that is restored while its due deletion lowers them are restored at once', async ({
  world,
}) => {
  const { group, project } = await crowded(world)
  const before = await audienceNumbers(world)
  await world.settings({ deletion_adjourned_period: 7 })
  expect((await world.root.delete(`/groups/${group.id}`)).status).toBe(202)
  await changeGroup(world, [group.id], { marked_for_deletion_on: daysAgo(7) })
  const ctx = await contextFor(world, null)
  const { run } = await world.db.transaction(async (tx) => {
    await lockIssue(tx, project.id, 2)
    const run = removeMarkedGroups.run({}, ctx)
    await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
    expect((await world.root.post(`/groups/${group.id}/restore`)).status).toBe(201)
    return { run }
  })
  await run
  const [job] = await world.takeJobs(`restore_audiences:${project.id}:failed`)
  await restoreAudiences.run(job!.payload, ctx)
  expect(await audienceNumbers(world)).toEqual(before)
  expect(await audiencesIn(world, project.id)).toEqual([{ audience: 20, number: 2001 }])
})

describe('a change that fails after audiences were lowered', () => {
  const fails = () => Promise.reject(new Error('it fails'))
  const restore = async (world: World, projectId: number) =>
    restoreAudiences.run({ projectId, hasFailed: true }, await contextFor(world, null))
  test('a job restores the audiences at once, other than those of confidential issues', async ({ world }) => {
    const { group, project } = await crowded(world)
    const before = await audienceNumbers(world)
    expect(await audiencesIn(world, project.id)).toEqual([{ audience: 20, number: 2001 }])
    const ctx = await contextFor(world, null)
    await expect(withAudiencesLowered(ctx, [{ namespaceId: group.id }], 0, fails)).rejects.toThrow('it fails')
    expect(await audiencesIn(world, project.id)).toEqual([])
    const [job] = await world.takeJobs(`restore_audiences:${project.id}:failed`)
    await restoreAudiences.run(job!.payload, ctx)
    expect(await audienceNumbers(world)).toEqual(before)
    // Another waits for the case that the process had ended.
    expect((await delayOf(world, `restore_audiences:${project.id}`)).seconds).toBeGreaterThan(25 * 60)
    await expect(withAudiencesLowered(ctx, [{ projectId: project.id }], 0, fails)).rejects.toThrow('it fails')
    await world.root.delete(`/projects/${project.id}`)
    await restore(world, project.id)
    expect(await audiencesIn(world, project.id)).toEqual([])
  })

  test('an issue that becomes confidential meanwhile keeps no audience', async ({ world }) => {
    const { project } = await crowded(world)
    const ctx = await contextFor(world, null)
    await expect(withAudiencesLowered(ctx, [{ projectId: project.id }], 0, fails)).rejects.toThrow('it fails')
    const { ended } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'projects', project.id)
      const edited = world.root.put(`/projects/${project.id}/issues/2`, { confidential: true })
      await world.waitsForLock(1)
      const restored = restore(world, project.id)
      await world.waitsForLock(2)
      // They go on after this transaction.
      return { ended: Promise.all([edited, restored]) }
    })
    expect((await ended)[0].status).toBe(200)
    expect(await audiencesIn(world, project.id)).toEqual([{ audience: 20, number: 2000 }])
    const { counted, kept } = await audienceNumbers(world)
    expect(kept).toEqual(counted)
  })
})
