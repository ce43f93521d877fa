import pg from 'pg'
import { mapConnectionError } from './connection-errors.ts'

/**
 * A client that is not connected yet. If its connection breaks, its statements fail; without a listener of its errors the process
 * would end.
 */
export function newClient(config: pg.ClientConfig): pg.Client {
  const client = new pg.Client(config)
  client.on('error', () => {})
  return client
}

/** Runs `use` with a connection of its own, which it closes at the end. Throws `DatabaseLost` if it cannot connect. */
export async function withClient<T>(config: pg.ClientConfig, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = newClient(config)
  await mapConnectionError(client.connect())
  try {
    return await use(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Whether a table exists, in the main schema unless the name has another. */
export async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>('select to_regclass($1) is not null as found', [name])
  return rows[0]!.found
}
