import { apiPrefix } from '../src/edges/http/declared.ts'
import type { Client } from './client.ts'
import { type EndpointBench, expectedOf, headersOf } from './endpoints.ts'
import { type Figures, figuresOf, median } from './figures.ts'
import type { Asked, Measured } from './load.ts'
import type { Size } from './sizes.ts'

export type Ports = { service: number; floor: number }
export type Throughput = { endpoint: EndpointBench; service: Figures; floor: Figures; ratio: number }

export const connections = 16
const rounds = 10
export const host = '127.0.0.1'

/** Why an endpoint cannot be measured; undefined if it responds as expected. */
export async function refusalOf(endpoint: EndpointBench, size: Size, port: number): Promise<string | undefined> {
  const response = await fetch(`http://${host}:${port}${apiPrefix}${endpoint.paths[0]}`, {
    method: endpoint.method ?? 'GET',
    headers: headersOf(endpoint.caller, size),
  })
  const text = await response.text()
  if (response.status === 404 && text === '{"error":"404 Not Found"}') return 'not there yet'
  return response.status === expectedOf(endpoint) ? undefined : `answers ${response.status}: ${text.slice(0, 100)}`
}

/** The requests of a call. */
export function readsOf({ caller, paths }: EndpointBench, size: Size): Asked[] {
  const headers = headersOf(caller, size)
  return paths.map((path) => ({ path: apiPrefix + path, headers }))
}

/**
 * Measures the endpoint and the floor alternately, in rounds of the same length, each as fast as 16 connections allow. The ratio is the median
 * of those of the rounds, because the speed of a virtual machine changes within seconds. Before, both are warmed up: V8 compiles what is
 * called most only after seconds.
 */
export async function throughputOf(
  endpoint: EndpointBench,
  size: Size,
  ports: Ports,
  client: Client,
  seconds: number,
): Promise<Throughput> {
  const headers = headersOf(endpoint.caller, size)
  const askService = (time: number) =>
    client.run({
      kind: 'closed',
      target: { host, port: ports.service },
      asked: readsOf(endpoint, size),
      connections,
      seconds: time,
      expected: 200,
    })
  const askFloor = (bytes: number, time: number) =>
    client.run({
      kind: 'closed',
      target: { host, port: ports.floor },
      asked: [{ path: `/${bytes}`, headers }],
      connections,
      seconds: time,
      expected: 200,
    })
  const { meanBytes } = await askService(seconds)
  await askFloor(meanBytes, seconds / 3)
  const service: Measured[] = []
  const floor: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    floor.push(await askFloor(meanBytes, seconds / rounds))
    service.push(await askService(seconds / rounds))
  }
  const rateOf = ({ requests, seconds: time }: Measured) => requests / time
  return {
    endpoint,
    service: figuresOf(service),
    floor: figuresOf(floor),
    ratio: median(service.map((each, round) => rateOf(each) / rateOf(floor[round]!))),
  }
}
