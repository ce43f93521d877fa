import { expect, test } from 'vitest'
import { World } from '../../../test/world.ts'

/** What a service sees of a client behind two proxies, the nearer of which is on this machine. */
const seenBehind = async (env: Record<string, string>): Promise<object> => {
  await using world = await World.start(env)
  const headers = { 'x-forwarded-for': '198.51.100.7, 172.18.0.1' }
  return (await world.anonymous.get('//-/connection', { headers })).json
}

test('the address of a client is the one that a proxy of STITHY_PROXIES reports, and else that of the proxy', async () => {
  expect(await seenBehind({})).toMatchObject({ address: '172.18.0.1' })
  expect(await seenBehind({ STITHY_PROXIES: '10.0.0.1, 172.16.0.0/12' })).toMatchObject({
    address: '198.51.100.7',
    believed: true,
  })
})
