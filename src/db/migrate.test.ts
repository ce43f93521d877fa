import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect } from 'vitest'
import { test, type World } from '../../test/world.ts'
import { inspectServer } from './inspect.ts'
import { migrate, refuseNewerSchema, refuseOlderSchema } from './migrate.ts'

/** The URL of a proxy of the database that closes a connection as soon as the client sends this text. */
async function closingAt(world: World, text: string) {
  const target = new URL(world.databaseUrl)
  const folder = target.searchParams.get('host')
  const port = Number(target.port || target.searchParams.get('port') || 5432)
  const proxy = createServer((client) => {
    const server = folder ? connect(`${folder}/.s.PGSQL.${port}`) : connect(port, target.hostname)
    for (const half of [client, server]) half.on('error', () => {})
    client.on('data', (data) => void (data.includes(text) ? client.destroy() : server.write(data)))
    client.on('close', () => server.destroy())
    server.pipe(client)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(target)
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return { url: url.href, [Symbol.asyncDispose]: async () => void proxy.close() }
}

test.for([
  ['a migration', 'pg_advisory_lock', migrate],
  ['the check for a newer schema', 'to_regclass', refuseNewerSchema],
  ['the check for missing migrations', 'to_regclass', refuseOlderSchema],
  ['the inspection of a server', 'clock_timestamp', inspectServer],
] as const)('%s fails if the connection to the database is lost', async ([, text, ask], { world }) => {
  await using proxy = await closingAt(world, text)
  // Vitest fails if the process would have ended.
  await expect(ask(proxy.url)).rejects.toThrow('Connection terminated')
})
