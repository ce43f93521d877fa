import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { waitMs } from '../../../../test/waiting.ts'
import { type Client, unique, World } from '../../../../test/world.ts'
import type { Mailer } from '../../../mail/mailer.ts'
import { done, sourceOf } from './testing.ts'

/** An HTTP server that accepts requests and never answers, at an address of this machine that the service does not use. */
async function stalled(host: '127.0.0.2' | '127.0.0.3') {
  const requests: IncomingMessage[] = []
  const server = createServer((request) => void requests.push(request))
  server.listen(0, host)
  await once(server, 'listening')
  return {
    requests,
    url: `http://${host}:${(server.address() as AddressInfo).port}/a.git`,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A mailer whose server accepts connections and is silent. */
function stalledMailer(): Mailer & Disposable & { readonly started: string[] } {
  const end = Promise.withResolvers<void>()
  const started: string[] = []
  return {
    started,
    send({ to }) {
      started.push(to)
      return end.promise
    },
    [Symbol.dispose]: () => end.resolve(),
  }
}

const start = (who: Client, import_url: string, more: object = {}): Promise<{ id: number }> =>
  done(who.post('/projects', { path: unique('remote'), import_url, ...more }))

const importState = async (who: Client, { id }: { id: number }) =>
  (await done(who.get(`/projects/${id}`))).import_status

describe('remotes that do not answer', () => {
  test('imports of one user that stall, one at each host, leave slots for imports of other users', async () => {
    await using world = await World.start()
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    using remote = await stalled('127.0.0.2')
    using other = await stalled('127.0.0.3')
    const [ann, bob] = [await world.user(), await world.user()]
    const source = await sourceOf(world)
    await world.runJobs()
    const imports: { id: number }[] = []
    for (const { url } of [remote, remote, other]) imports.push(await start(ann, url))
    const requests = () => [remote.requests.length, other.requests.length]
    await expect.poll(requests, { timeout: waitMs }).toEqual([1, 1])
    // A third remote at once is too many for one user; another user has a slot.
    const third = await start(ann, world.remote(source, world.root))
    const bobs = await start(bob, world.remote(source, world.root))
    await expect.poll(() => importState(bob, bobs), { timeout: waitMs }).toBe('finished')
    const states = await Promise.all([...imports, third].map((each) => importState(ann, each)))
    expect([states.slice(0, 2).sort(), states.slice(2)]).toEqual([
      ['scheduled', 'started'],
      ['started', 'scheduled'],
    ])
    expect(requests()).toEqual([1, 1])
  })

  test('stalled mirrors of several users at one host leave slots for mirrors of other hosts', async () => {
    await using world = await World.start()
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    using remote = await stalled('127.0.0.2')
    const source = await sourceOf(world)
    await world.runJobs()
    const users = await Promise.all(Array.from({ length: 5 }, () => world.user()))
    const mirrors: { id: number }[] = []
    for (const who of users) mirrors.push(await done(who.post('/projects', { path: unique('mirror') })))
    for (const [n, who] of users.entries())
      await done(
        who.put(`/projects/${mirrors[n]!.id}`, {
          mirror: true,
          import_url: n < 4 ? remote.url : world.remote(source, world.root),
        }),
      )
    const state = (n: number) => done(users[n]!.get(`/projects/${mirrors[n]!.id}/mirror/pull`))
    await expect.poll(async () => (await state(4)).update_status, { timeout: waitMs }).toBe('finished')
    const statuses = await Promise.all([0, 1, 2, 3].map(async (n) => (await state(n)).update_status))
    expect(statuses.sort()).toEqual(['scheduled', 'scheduled', 'started', 'started'])
    expect(remote.requests).toHaveLength(2)
  })

  test('stalled remotes of several users and a stalled mail server leave slots for jobs that need neither', async () => {
    const mailer = stalledMailer()
    await using world = await World.start({}, { mailer })
    // Ends before the world, which waits for the jobs.
    using _mailer = mailer
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    using remote = await stalled('127.0.0.2')
    using other = await stalled('127.0.0.3')
    await world.runJobs()
    const [ann, bob] = [await world.user(), await world.user()]
    const mirror = async (url: string) => {
      const { id } = await done(ann.post('/projects', { path: unique('mirror') }))
      await done(ann.put(`/projects/${id}`, { mirror: true, import_url: url }))
    }
    for (const { url } of [remote, other]) {
      await mirror(url)
      await start(bob, url)
    }
    const waiting = () => [remote.requests.length, other.requests.length]
    await expect.poll(waiting, { timeout: waitMs }).toEqual([2, 2])
    for (let n = 0; n < 6; n++) {
      const name = unique('mailed')
      await done(world.root.post('/users', { name, username: name, email: `${name}@x.test`, reset_password: true }))
    }
    await expect.poll(() => mailer.started.length, { timeout: waitMs }).toBeGreaterThanOrEqual(2)
    // Its commit enqueues a quick job; a fork is slow, and needs no server.
    const source = await sourceOf(world)
    await expect.poll(() => world.jobs(`refresh_repository:${source.id}`), { timeout: waitMs }).toEqual([])
    const fork = await done(world.root.post(`/projects/${source.id}/fork`, { path: unique('fork') }))
    await expect.poll(() => importState(world.root, fork), { timeout: waitMs }).toBe('finished')
    expect(waiting()).toEqual([2, 2])
  })
})
