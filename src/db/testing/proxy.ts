import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy of a database, and its URL. `join` connects the two sides of each connection, whose errors are ignored. */
export async function proxyOf(databaseUrl: string, join: (client: Socket, server: Socket) => void) {
  const target = new URL(databaseUrl)
  const folder = target.searchParams.get('host') ?? decodeURIComponent(target.hostname)
  const port = Number(target.port || target.searchParams.get('port') || 5432)
  const proxy = createServer((client) => {
    const server = folder.startsWith('/') ? connect(`${folder}/.s.PGSQL.${port}`) : connect(port, folder)
    for (const half of [client, server]) half.on('error', () => {})
    join(client, server)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(target)
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return { url: url.href, [Symbol.dispose]: () => void proxy.close() }
}
