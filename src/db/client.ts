import pg from 'pg'

/**
 * A client that is not connected yet. If its connection breaks, its statements fail; without a listener of its errors the process
 * would end.
 */
export function newClient(config: pg.ClientConfig): pg.Client {
  const client = new pg.Client(config)
  client.on('error', () => {})
  return client
}
