import { Agent, request } from 'undici'
import type { Client, World } from '../../../../../test/world.ts'
import { throttles } from '../../../../settings/declared/throttles.ts'
import { basic, made, refs, showEffects } from './testing.ts'

/** Statuses of successive requests. */
async function statuses(times: number, ask: () => Promise<{ status: number }>): Promise<number[]> {
  const seen: number[] = []
  for (let i = 0; i < times; i++) seen.push((await ask()).status)
  return seen
}

/** Statuses of one request from each of these addresses of this host. */
const fromAddresses = async (world: World, who: Client, addresses: readonly string[]) => {
  const seen: number[] = []
  for (const address of addresses) {
    const answer = await request(`${world.origin}/api/v4/user`, {
      dispatcher: new Agent(),
      headers: { 'private-token': who.token!, 'x-forwarded-for': address },
    })
    await answer.body.dump()
    seen.push(answer.statusCode)
  }
  return seen
}

showEffects(
  throttles,
  [
    [
      'throttle_unauthenticated_*',
      {
        throttle_unauthenticated_enabled: true,
        throttle_unauthenticated_requests_per_period: 2,
        throttle_unauthenticated_period_in_seconds: 100_000,
      },
      async ({ anonymous }) => {
        const headers = { 'x-forwarded-for': '192.0.2.7' }
        return statuses(3, () => anonymous.get('/projects', { headers }))
      },
      [200, 200, 200],
      [200, 200, 429],
    ],
    [
      'throttle_authenticated_api_*',
      {
        throttle_authenticated_api_enabled: true,
        throttle_authenticated_api_requests_per_period: 2,
        throttle_authenticated_api_period_in_seconds: 100_000,
      },
      async (world) => {
        const ann = await world.user()
        return statuses(3, () => ann.get('/user'))
      },
      [200, 200, 200],
      [200, 200, 429],
    ],
    [
      'throttle_authenticated_web_*',
      {
        throttle_authenticated_web_enabled: true,
        throttle_authenticated_web_requests_per_period: 2,
        throttle_authenticated_web_period_in_seconds: 100_000,
      },
      async (world) => {
        const ann = await world.user()
        const project = (await ann.post('/projects', made())).json
        const headers = basic(ann.username, ann.token!)
        return [
          ...(await statuses(3, () => world.anonymous.get(refs(project), { headers }))),
          (await ann.get('/user')).status,
        ]
      },
      [200, 200, 200, 200],
      [200, 200, 429, 200],
    ],
    [
      'throttle_protected_paths_*',
      {
        throttle_protected_paths_enabled: true,
        throttle_protected_paths_requests_per_period: 2,
        throttle_protected_paths_period_in_seconds: 100_000,
        protected_paths: ['/api/v4/topics'],
      },
      async ({ anonymous }) => {
        const headers = { 'x-forwarded-for': '192.0.2.8' }
        return [
          ...(await statuses(3, () => anonymous.send('POST', '/topics', { headers }))),
          (await anonymous.get('/topics', { headers })).status,
        ]
      },
      [400, 400, 400, 200],
      [400, 400, 429, 200],
    ],
    [
      'unique_ips_limit_*',
      { unique_ips_limit_enabled: true, unique_ips_limit_per_user: 2, unique_ips_limit_time_window: 3600 },
      async (world) => fromAddresses(world, await world.user(), ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1']),
      [200, 200, 200, 200],
      [200, 200, 403, 200],
    ],
  ],
  // Tested elsewhere, because it takes several steps.
  ['search_rate_limit'],
)
