import { describe, expect } from 'vitest'
import { contextFor, locate } from '../../../../test/contexts.ts'
import { pushesTo, pushRows, reopenPush } from '../../../../test/tables/pushes.ts'
import { waitMs } from '../../../../test/waiting.ts'
import { temporaryFolder, test, type World } from '../../../../test/world.ts'
import { openRepository } from '../../projects/index.ts'
import { applyPushOptions } from './jobs.ts'
import { commitOn, forkedCopy, mergeRequests, push, withTopic } from './testing.ts'

describe('completion of push options', () => {
  /** A push whose process ended after the refs moved: its options are not applied. */
  async function interrupted(world: World) {
    const at = await withTopic(world)
    await push(at.copy, ['topic'])
    const { id } = (await pushesTo(world, at.copy.project.id, 'id')).at(-1)
    await reopenPush(world, id, ['mr.create', 'mr.title=Completed'])
    return { ...at, pushId: Number(id) }
  }

  test('a job completes the options of an interrupted push, once', async ({ world }) => {
    await using at = await interrupted(world)
    await world.recover()
    expect(await world.takeJobs(`apply_push_options:${at.pushId}`)).toMatchObject([{ is_delayed: true }])
    const ctx = await contextFor(world, null)
    await applyPushOptions.run({ pushId: at.pushId }, ctx)
    const [made] = await mergeRequests(at.ann, at.copy)
    expect(made).toMatchObject({ title: 'Completed', author: { id: at.ann.id } })
    await at.ann.put(`${at.copy.at}/${made.iid}`, { state_event: 'close' })
    await applyPushOptions.run({ pushId: at.pushId }, ctx)
    expect(await mergeRequests(at.ann, at.copy)).toMatchObject([{ iid: made.iid, state: 'closed' }])
  })

  test('options that are applied twice at once open one merge request', async ({ world }) => {
    await using at = await interrupted(world)
    await world.recover()
    await world.takeJobs(`apply_push_options:${at.pushId}`)
    const ctx = await contextFor(world, null)
    await Promise.all(Array.from({ length: 4 }, () => applyPushOptions.run({ pushId: at.pushId }, ctx)))
    expect(await mergeRequests(at.ann, at.copy)).toMatchObject([{ title: 'Completed', state: 'opened' }])
  })

  test('a job opens nothing after the access token of the push was revoked', async ({ world }) => {
    await using at = await interrupted(world)
    await world.recover()
    await world.takeJobs(`apply_push_options:${at.pushId}`)
    const ctx = await contextFor(world, null)
    const [{ token_id }] = await pushRows(world, at.pushId, 'token_id')
    expect((await world.root.delete(`/personal_access_tokens/${token_id}`)).status).toBe(204)
    await applyPushOptions.run({ pushId: at.pushId }, ctx)
    expect(await mergeRequests(world.root, at.copy)).toEqual([])
  })
})

describe('shares of git processes', () => {
  test('a push that takes the last slot of its user opens a merge request from a fork', async ({ world }) => {
    await using folder = await temporaryFolder()
    const eve = await world.user()
    const { theirs, copy } = await forkedCopy(world, folder.path, eve)
    await commitOn(copy, 'topic')
    const ctx = await contextFor(world, eve)
    const repo = openRepository(ctx, await locate(world, theirs.project.id))
    // A caller who is alone has at most a third of the 128 slots, rounded up.
    const others = await Promise.all(
      Array.from({ length: 42 }, () =>
        repo.start('cat-file', { flags: ['--batch-command'], stdin: true, lane: 'transfer', timeoutMs: 10 * waitMs }),
      ),
    )
    const pushing = push(copy, ['topic'], 'mr.create')
    try {
      await expect.poll(() => mergeRequests(eve, theirs), { timeout: waitMs }).toHaveLength(1)
    } finally {
      for (const child of others) child.destroy()
      await Promise.allSettled([pushing, ...others.map(({ done }) => done)])
    }
  })
})
