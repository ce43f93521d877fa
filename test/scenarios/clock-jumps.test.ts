import { hash } from 'node:crypto'
import { pino } from 'pino'
import { Type } from 'typebox'
import { describe, expect, vi } from 'vitest'
import { enqueue, job } from '../../src/jobs/job.ts'
import { startJobs } from '../../src/jobs/runner.ts'
import { password, withTwoFactor } from '../../src/modules/accounts/two-factor/testing.ts'
import { lfs } from '../../src/modules/pushes/large-files/testing.ts'
import { contextFor } from '../contexts.ts'
import { futureTimetables, queueInFuture } from '../jobs.ts'
import { moveHousekeepingAhead } from '../tables/pushes.ts'
import { forgetSignInFailures, moveSignInFailuresAhead, moveTwoFactorAhead } from '../tables/sign-in.ts'
import { ageMailLinks } from '../tables/users.ts'
import { test, unique, World } from '../world.ts'

const signIn = (world: World, username: string, secret: string, code?: string) =>
  world.anonymous.send('POST', '//oauth/token', {
    json: { grant_type: 'password', username, password: secret },
    ...(code !== undefined && { headers: { 'x-service-otp': code } }),
  })

describe('after the clock is set back by hours', () => {
  test('failed sign-ins from before a clock set back by hours do not lock an account', async ({ world }) => {
    const ann = await world.user({ password, skip_confirmation: true })
    for (let attempt = 0; attempt < 10; attempt++) await signIn(world, ann.username, 'wrong')
    expect((await signIn(world, ann.username, password)).status).toBe(429)
    await moveSignInFailuresAhead(world)
    expect((await signIn(world, ann.username, password)).status).toBe(200)
  })

  test('failed sign-ins are counted anew after the clock is set back', async ({ world }) => {
    const ann = await world.user({ password, skip_confirmation: true })
    for (let attempt = 0; attempt < 10; attempt++) await signIn(world, ann.username, 'wrong')
    await moveSignInFailuresAhead(world)
    for (let attempt = 0; attempt < 10; attempt++) await signIn(world, ann.username, 'wrong')
    expect((await signIn(world, ann.username, password)).status).toBe(429)
    await forgetSignInFailures(world)
  })

  test('concurrent failed sign-ins are all counted', async ({ world }) => {
    const ann = await world.user({ password, skip_confirmation: true })
    await Promise.all(Array.from({ length: 10 }, () => signIn(world, ann.username, 'wrong')))
    expect((await signIn(world, ann.username, password)).status).toBe(429)
    await forgetSignInFailures(world)
  })

  test('a two-factor code is accepted, once, after the clock is set back', async ({ world }) => {
    const ann = await world.user({ password, skip_confirmation: true })
    const device = await withTwoFactor(world, ann)
    await moveTwoFactorAhead(world, ann.id)
    const code = device.code()
    expect((await signIn(world, ann.username, password, code)).status).toBe(200)
    expect((await signIn(world, ann.username, password, code)).status).toBe(400)
  })

  test('401 with LFS credentials from before the clock was set back', async ({ world }) => {
    const project = await world.project()
    const content = unique('content')
    const objects = [{ oid: hash('sha256', content, 'hex'), size: content.length }]
    const ask = async () => {
      const { json } = await lfs(world.root, project, 'POST', 'objects/batch', {
        json: { operation: 'upload', objects },
      })
      return json.objects[0].actions.upload as { href: string; header: Record<string, string> }
    }
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 3_600_000 })
    const before = await ask().finally(() => vi.useRealTimers())
    const put = ({ href, header }: typeof before) =>
      world.root.send('PUT', `/${new URL(href).pathname}`, { headers: header, body: content })
    expect((await put(before)).status).toBe(401)
    expect((await put(await ask())).status).toBe(200)
  })

  test('mails sent before the clock was set back do not block new ones', async ({ world }) => {
    const ann = await world.user()
    const add = async () => {
      const email = `${unique('address')}@example.com`
      return (await ann.post('/user/emails', { email })).status
    }
    for (let times = 0; times < 10; times++) expect(await add()).toBe(201)
    expect(await add()).toBe(429)
    await ageMailLinks(world, ann.id, '-5 hours')
    expect(await add()).toBe(201)
  })

  test('housekeeping can be requested again after the clock is set back', async ({ world }) => {
    const project = await world.project()
    const ask = async () => (await world.root.post(`/projects/${project.id}/housekeeping`)).status
    expect([await ask(), await ask()]).toEqual([201, 409])
    await moveHousekeepingAhead(world, project.id)
    expect(await ask()).toBe(201)
  })

  test('jobs and cron schedules from before the clock was set back run', async () => {
    await using world = await World.start()
    const { promise: ran, resolve } = Promise.withResolvers<void>()
    const work = job({ name: 'work', input: Type.Object({}), attempts: 1, run: async () => resolve() })
    const regular = job({
      name: 'regular',
      input: Type.Object({}),
      key: () => 'regular',
      attempts: 1,
      every: { cron: '* * * * *', input: {} },
      run: async () => {},
    })
    const ctx = await contextFor(world, null)
    await ctx.transaction((tx) => enqueue(tx, work, {}))
    await queueInFuture(world, 'regular')
    const runner = await startJobs({
      databaseUrl: world.databaseUrl,
      jobs: [work, regular],
      open: async () => ctx,
      log: pino({ level: 'silent' }),
      onBroken: (error) => {
        throw error
      },
    })
    await ran
    await runner.stop()
    expect(await futureTimetables(world)).toEqual([])
  })
})
