import { wallClockMs } from '../kernel/clock.ts'
import { newClient } from './client.ts'
import { connectionOptions } from './connection.ts'

type ServerFacts = {
  version: string
  /** `server_version_num`. */
  versionNumber: number
  encoding: string
  /** The clock of the server minus ours, in ms. */
  clockAheadMs: number
}

/** Asks a server for its version, its encoding and its time. */
export async function inspectServer(url: string): Promise<ServerFacts> {
  const client = newClient(connectionOptions(url, 'doctor'))
  await client.connect()
  try {
    const before = wallClockMs()
    const { rows } = await client.query<{ version: string; number: string; encoding: string; ms: number }>(`
      select current_setting('server_version') as version, current_setting('server_version_num') as number,
        current_setting('server_encoding') as encoding, (extract(epoch from clock_timestamp()) * 1000)::float8 as ms
    `)
    const middle = (before + wallClockMs()) / 2
    const { version, number, encoding, ms } = rows[0]!
    return { version, versionNumber: Number(number), encoding, clockAheadMs: ms - middle }
  } finally {
    await client.end()
  }
}
