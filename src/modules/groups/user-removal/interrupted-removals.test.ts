import { expect } from 'vitest'
import { failJobs } from '../../../../test/jobs.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { refuseCascades } from '../../../../test/tables/projects.ts'
import { test, unique, World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { contributions } from './contributions.ts'
import { removeUser, resumeUserRemovals } from './jobs.ts'
import { ensurePlaceholder } from './placeholder.ts'
import { contribution, remove, settle } from './testing.ts'

test('a user whose removal was interrupted is still being removed: no one unblocks or adds them, and their deletion is no second one', async ({
  world,
}) => {
  const ann = await world.user()
  const { project } = await contribution(world, ann)
  await ann.post('/projects', { name: 'Mine' })
  await remove(world, ann)
  const ctx = await world.app.open(null)
  // Interrupted between the projects of the user and the contributions.
  const killed: Ctx = {
    ...ctx,
    transaction: (work) => (work === (ensurePlaceholder as unknown) ? Promise.reject('killed') : ctx.transaction(work)),
  }
  await expect(removeUser.run({ userId: ann.id, hard: false }, killed)).rejects.toBe('killed')
  expect(await world.root.post(`/users/${ann.id}/unblock`)).toMatchObject({
    status: 403,
    json: { message: expect.stringContaining('This user is being removed') },
  })
  const added = await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 30 })
  expect(added.status).toBe(404)
  expect((await remove(world, ann)).status).toBe(204)
  expect(
    (await eventsOf(world, { kind: 'user_deleted' })).filter(({ payload }) => payload.user_id === ann.id),
  ).toHaveLength(1)
  await settle(world, ann)
  expect((await world.root.get(`/users/${ann.id}`)).status).toBe(404)
  expect(await world.user({ username: ann.username })).toMatchObject({ username: ann.username })
})

test('a removal of a user that failed too often is restarted, as it was requested', async ({ world }) => {
  const [ann, ben] = [await world.user(), await world.user()]
  await remove(world, ann, true)
  await remove(world, ben)
  await failJobs(world, [`remove_user:${ann.id}`])
  await resumeUserRemovals.run({}, await world.app.open(null))
  expect(await world.jobs(`remove_user:${ann.id}`)).toMatchObject([
    { attempts: 0, payload: { userId: ann.id, hard: true } },
  ])
  expect(await world.jobs(`remove_user:${ben.id}`)).toHaveLength(1)
})

test.each([false, true])(
  'what names a user is changed before the account is deleted, with hard_delete=%s',
  async (hard) => {
    await using world = await World.start()
    const ann = await world.user()
    const { project, statuses } = await contribution(world, ann)
    const { at } = await openMergeRequest(world, { project, author: world.root })
    const branches = `/projects/${project.id}/repository/branches`
    expect((await ann.post(`${branches}?branch=of-ann&ref=main`)).status).toBe(201)
    expect((await world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 40 })).status).toBe(200)
    expect((await ann.put(at, { state_event: 'close' })).status).toBe(200)
    await remove(world, ann, hard)
    await refuseCascades(
      world,
      contributions.map(({ table }) => table),
      'update',
    )
    await removeUser.run({ userId: ann.id, hard }, await world.app.open(null))
    expect((await world.root.get(`/users/${ann.id}`)).status).toBe(404)
    expect(await statuses()).toEqual([hard ? undefined : 'ghost'])
    expect((await world.root.get(at)).json.closed_by).toBeNull()
  },
)

test('the removal job finishes from any state that a crash left', async () => {
  await using world = await World.start()
  const ann = await world.user({ username: unique('ann') })
  const { comments } = await contribution(world, ann)
  await ann.post('/projects', { name: 'Mine' })
  await remove(world, ann)
  await world.runJobs()
  await expect.poll(async () => (await world.root.get(`/users/${ann.id}`)).status).toBe(404)
  expect(await comments()).toEqual(['ghost'])
})
