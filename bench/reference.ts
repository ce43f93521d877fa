import { apiPrefix } from '../src/edges/http/declared.ts'
import type { Client } from './client.ts'
import { type EndpointBench, expectedOf, headersOf, isRead } from './endpoints.ts'
import { type Figures, figuresOf } from './figures.ts'
import type { GitRequests } from './git-requests.ts'
import type { Asked } from './load.ts'
import type { Size } from './sizes.ts'

/** The rates of the reference load, in requests per second. */
const rates = { api: 200, pulls: 20, pushes: 4 }
const host = '127.0.0.1'

export type Reference = { name: string; perSecond: number; figures: Figures; targetP90: number | undefined }

/** Measures one call at the rate of the reference load. */
export async function referenceOf(
  endpoint: EndpointBench,
  size: Size,
  port: number,
  client: Client,
  seconds: number,
): Promise<Reference> {
  const headers = headersOf(endpoint.caller, size)
  const { name, method = 'GET', paths, referenceP90 } = endpoint
  const asked = paths.map((path) => ({ path: apiPrefix + path, headers, method }))
  return referenceLoad(name, asked, rates.api, referenceP90, port, client, seconds, expectedOf(endpoint))
}

/** Measures fetches, then pushes, each alone. */
export async function gitReference(
  git: GitRequests,
  port: number,
  client: Client,
  seconds: number,
): Promise<Reference[]> {
  const pushSeconds = Math.min(seconds, git.pushes.length / 2 / rates.pushes)
  return [
    await referenceLoad('git_ls_remote', git.listings, rates.pulls, 25, port, client, seconds),
    await referenceLoad('git_pull', git.pulls, rates.pulls, 40, port, client, seconds),
    await referenceLoad(
      'git_push',
      git.takePushes(pushSeconds * rates.pushes),
      rates.pushes,
      150,
      port,
      client,
      pushSeconds,
    ),
  ]
}

/** Measures everything concurrently, each kind from its own client: 200 calls in turn, 20 pulls and 4 pushes per second. */
export async function mixedReference(
  endpoints: readonly EndpointBench[],
  size: Size,
  git: GitRequests,
  port: number,
  clients: readonly [Client, Client, Client],
  seconds: number,
): Promise<Reference[]> {
  const asked = endpoints
    .filter(isRead)
    .flatMap(({ caller, paths }) =>
      paths.slice(0, 20).map((path) => ({ path: apiPrefix + path, headers: headersOf(caller, size) })),
    )
  // Adjacent requests are of the same call; multiplying by a prime mixes them.
  const mixed = asked.map((_, index) => asked[(index * 7919) % asked.length]!)
  return Promise.all([
    referenceLoad('all calls together', mixed, rates.api, undefined, port, clients[0], seconds),
    referenceLoad('… with git_pull', git.pulls, rates.pulls, 40, port, clients[1], seconds),
    referenceLoad(
      '… and git_push',
      git.takePushes(seconds * rates.pushes),
      rates.pushes,
      150,
      port,
      clients[2],
      seconds,
    ),
  ])
}

async function referenceLoad(
  name: string,
  asked: readonly Asked[],
  perSecond: number,
  targetP90: number | undefined,
  port: number,
  client: Client,
  seconds: number,
  expected = 200,
): Promise<Reference> {
  const load = { kind: 'open', target: { host, port }, asked, perSecond, expected } as const
  // No warm-up for pushes, which cannot be repeated.
  if (perSecond === rates.api) await client.run({ ...load, seconds: 1 })
  return { name, perSecond, figures: figuresOf([await client.run({ ...load, seconds })]), targetP90 }
}
