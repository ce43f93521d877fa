import { wallClockMs } from '../kernel/clock.ts'
import { withClient } from './client.ts'
import { connectionOptions } from './connection.ts'

type ServerFacts = {
  version: string
  /** `server_version_num`. */
  versionNumber: number
  encoding: string
  /** The clock of the server minus ours, in ms. */
  clockAheadMs: number
  /** Connections that it accepts, without those that are reserved for its administrators. */
  maxConnections: number
}

/** Asks a server for its version, its encoding, its time and how many connections it accepts. */
export const inspectServer = (url: string): Promise<ServerFacts> =>
  withClient(connectionOptions(url, 'doctor'), async (client) => {
    const before = wallClockMs()
    const { rows } = await client.query<{
      version: string
      number: string
      encoding: string
      ms: number
      connections: number
    }>(`
      select current_setting('server_version') as version, current_setting('server_version_num') as number,
        current_setting('server_encoding') as encoding, (extract(epoch from clock_timestamp()) * 1000)::float8 as ms,
        current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer as connections
    `)
    const middle = (before + wallClockMs()) / 2
    const { version, number, encoding, ms, connections } = rows[0]!
    return {
      ...{ version, versionNumber: Number(number), encoding },
      ...{ clockAheadMs: ms - middle, maxConnections: connections },
    }
  })
