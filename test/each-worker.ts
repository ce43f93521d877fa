import { Client } from 'undici'
import { expect } from 'vitest'
import type { Launched } from '../src/processes/testing/launch.ts'

/**
 * A connection to each of two workers, by pid. The system chooses the worker of a connection; the log of the service, at level `info`,
 * names that of a request.
 */
export async function toEachWorker(service: Launched, origin: string): Promise<Map<number, Client>> {
  const pidOf = (id: string): number | undefined => {
    const line = service.out.split('\n').find((each) => each.includes(id))
    return line === undefined ? undefined : JSON.parse(line).pid
  }
  const connections = new Map<number, Client>()
  for (let tries = 0; tries < 100 && connections.size < 2; tries++) {
    const connection = new Client(origin, { pipelining: 1 })
    const answer = await connection.request({ method: 'GET', path: '/api/v4/version' })
    await answer.body.text()
    const id = String(answer.headers['x-request-id'])
    await expect.poll(() => pidOf(id)).toBeDefined()
    const pid = pidOf(id)!
    if (connections.has(pid)) await connection.close()
    else connections.set(pid, connection)
  }
  return connections
}
