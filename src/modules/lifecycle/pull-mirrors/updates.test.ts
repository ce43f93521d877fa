import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { makePullsDue, minutesToNextPull, planPullsAhead } from '../../../../test/tables/mirrors.ts'
import { movedRefs } from '../../../../test/tables/pushes.ts'
import { type TestProject, test, unique, World } from '../../../../test/world.ts'
import { commitTo, done, refsOf, sourceOf } from '../remotes/testing.ts'
import { schedulePullMirrors } from './jobs.ts'
import { mirrorOf, record, state, update } from './testing.ts'

describe('interrupted and concurrent updates', () => {
  test('concurrent updates of a mirror push each change once', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    await commitTo(world, source)
    await commitTo(world, source, 'zebra')
    await Promise.all([update(world, mirror), update(world, mirror), update(world, mirror)])
    expect(await refsOf(world, mirror)).toEqual(await refsOf(world, source))
    const moved = (await movedRefs(world, mirror.id)).map(({ ref }) => ref)
    expect(moved.sort()).toEqual(['refs/heads/main', 'refs/heads/zebra'])
  })

  test('an update that is interrupted after it moved refs completes on the next run', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    await commitTo(world, source)
    // No transaction commits any more: neither the effects of the push nor the result of the update.
    const broken = update(world, mirror, (ctx) => ({
      ...ctx,
      transaction: () => Promise.reject(new Error('the process ended')),
    }))
    await expect(broken).rejects.toThrow('the process ended')
    expect((await state(world.root, mirror)).update_status).toBe('started')
    expect(await eventsOf(world, { project: mirror.id, kind: 'pushed' })).toEqual([])
    await world.recover()
    await update(world, mirror)
    expect(await eventsOf(world, { project: mirror.id, kind: 'pushed' })).toHaveLength(1)
    expect(await refsOf(world, mirror)).toEqual(await refsOf(world, source))
    expect((await state(world.root, mirror)).update_status).toBe('finished')
  })
})

describe('the schedule of pull mirrors', () => {
  async function failing(world: World): Promise<{ id: number }> {
    const { id } = await done(world.root.post('/projects', { path: unique('mirror') }))
    const import_url = 'http://no-such-host.invalid/x.git'
    await done(world.root.put(`/projects/${id}`, { mirror: true, import_url }))
    return { id }
  }

  test('updates follow every 30 minutes, less often after failures, and at least after mirror_max_delay', async ({
    world,
  }) => {
    const mirror = await mirrorOf(world, await sourceOf(world), world.root)
    await update(world, mirror)
    expect(await minutesToNextPull(world, mirror.id)).toBe(30)
    const broken = await failing(world)
    const delays = []
    for (let attempt = 0; attempt < 5; attempt++) {
      await update(world, broken)
      delays.push(await minutesToNextPull(world, broken.id))
    }
    expect(delays).toEqual([60, 120, 240, 300, 300])
    await world.settings({ mirror_max_delay: 20 })
    await update(world, mirror)
    expect(await minutesToNextPull(world, mirror.id)).toBe(20)
  })

  test('a mirror stops after 14 failures in a row, until it is updated by request', async ({ world }) => {
    const mirror = await failing(world)
    for (let attempt = 1; attempt <= 13; attempt++) await update(world, mirror)
    expect((await state(world.root, mirror)).next_update_at).not.toBe(null)
    await update(world, mirror)
    expect(await state(world.root, mirror)).toMatchObject({
      update_status: 'failed',
      last_error: 'Could not resolve host: no-such-host.invalid',
      next_update_at: null,
    })
    expect(await eventsOf(world, { project: mirror.id, kind: 'pull_mirror_stopped' })).toHaveLength(1)
    expect((await record(world.root, mirror)).import_error).toBe('Could not resolve host: no-such-host.invalid')
    await done(world.root.post(`/projects/${mirror.id}/mirror/pull`))
    expect((await state(world.root, mirror)).next_update_at).not.toBe(null)
  })

  test('due updates are queued within mirror_max_capacity, and none below mirror_capacity_threshold', async () => {
    await using world = await World.start()
    const run = async () => schedulePullMirrors.run({}, await contextFor(world, null))
    const queued = async () => (await world.jobs('update_pull_mirror:%')).length
    const mirrors = [await failing(world), await failing(world), await failing(world), await failing(world)]
    await world.takeJobs('update_pull_mirror:%')
    await makePullsDue(world)
    await world.archive({ id: mirrors[0]!.id } as TestProject)
    await world.settings({ mirror_max_capacity: 2, mirror_capacity_threshold: 1 })
    await run()
    expect(await queued()).toBe(2)
    await run()
    expect(await queued()).toBe(2)
    await world.settings({ mirror_max_capacity: 3, mirror_capacity_threshold: 2 })
    await run()
    expect(await queued()).toBe(2)
    await world.settings({ mirror_max_capacity: 3, mirror_capacity_threshold: 1 })
    await run()
    expect(await queued()).toBe(3)
    expect(await world.jobs(`update_pull_mirror:${mirrors[0]!.id}`)).toEqual([])
  })

  test('updates are queued after the clock was set back', async () => {
    await using world = await World.start()
    const mirror = await failing(world)
    await world.takeJobs('update_pull_mirror:%')
    await planPullsAhead(world)
    await schedulePullMirrors.run({}, await contextFor(world, null))
    expect(await world.jobs(`update_pull_mirror:${mirror.id}`)).toHaveLength(1)
  })
})
