import { expect } from 'vitest'
import { test } from '../../test/world.ts'
import { DatabaseLost } from './connection-errors.ts'
import { inspectServer } from './inspect.ts'
import { migrate, refuseNewerSchema, refuseOlderSchema } from './migrate.ts'
import { proxyOf } from './testing/proxy.ts'

test.for([
  ['a migration', 'pg_advisory_lock', migrate],
  ['the check for a newer schema', 'to_regclass', refuseNewerSchema],
  ['the check for missing migrations', 'to_regclass', refuseOlderSchema],
  ['the inspection of a server', 'clock_timestamp', inspectServer],
] as const)('%s fails if the connection to the database is lost', async ([, text, ask], { world }) => {
  using proxy = await proxyOf(world.databaseUrl, (client, server) => {
    client.on('data', (data) => void (data.includes(text) ? client.destroy() : server.write(data)))
    client.on('close', () => server.destroy())
    server.pipe(client)
  })
  // Vitest fails if the process would have ended.
  await expect(ask(proxy.url)).rejects.toThrow('Connection terminated')
})

test.for([
  ['a migration', migrate],
  ['the check for a newer schema', refuseNewerSchema],
  ['the check for missing migrations', refuseOlderSchema],
  ['the inspection of a server', inspectServer],
] as const)('%s fails as unavailable if nothing listens at the address of the database', async ([, ask]) => {
  await expect(ask('postgres://tester@127.0.0.1:1/nothing')).rejects.toBeInstanceOf(DatabaseLost)
})
