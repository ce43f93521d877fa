import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { TcpProxy } from '../../test/tcp-proxy.ts'
import { test } from '../../test/world.ts'
import { Notifications, notify } from './notifications.ts'
import { proxyOf } from './testing/proxy.ts'

test('a change is complete only when its own process has received the notification of it', async ({ world }) => {
  const url = new URL(world.databaseUrl)
  await using proxy = await TcpProxy.start(`${url.searchParams.get('host')}/.s.PGSQL.5432`)
  await using notifications = new Notifications(
    Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(proxy.port), search: '' }).toString(),
    600_000,
  )
  const received: unknown[] = []
  notifications.onChange((topic) => received.push(topic))
  await notifications.connect()
  received.length = 0
  proxy.freeze()
  let isComplete = false
  const change = world.db
    .transaction((tx) => notify({ ...tx, notifications }, 'hooks'))
    .then(() => {
      isComplete = true
      return [...received]
    })
  // Longer than a change waits for other processes.
  await delay(200)
  expect(isComplete).toBe(false)
  proxy.release()
  expect(await change).toContain('hooks')
})

test('attempts to listen that the server refuses leave no connection', async ({ world }) => {
  const open: Socket[] = []
  using proxy = await proxyOf(world.databaseUrl, (client, server) => {
    open.push(client)
    client.on('data', (chunk: Buffer) => {
      // The server refuses it as a standby does: with an error, on a connection that stays.
      server.write(Buffer.from(chunk.toString('latin1').replace('listen stithy', 'refuse stithy'), 'latin1'))
    })
    server.pipe(client)
    client.on('close', () => server.destroy())
  })
  await using notifications = new Notifications(proxy.url)
  for (let attempt = 0; attempt < 3; attempt++) await expect(notifications.connect()).rejects.toThrow('syntax error')
  await expect.poll(() => open.filter(({ destroyed }) => !destroyed)).toEqual([])
})

test('a change whose notification is lost is complete all the same', async ({ world }) => {
  await using notifications = new Notifications(world.databaseUrl, 10)
  await world.db.transaction((tx) => notify({ ...tx, notifications }, 'hooks'))
})
