import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { forgetHits } from '../../../test/tables/users.ts'
import { waitMs } from '../../../test/waiting.ts'
import { type Client, unique, World } from '../../../test/world.ts'
import { storedProject } from '../repository/commits/testing.ts'
import { exportOf, upload } from './testing.ts'

/** A server that accepts requests and never answers, at an address of this machine that the service does not use. */
async function stalled(host: '127.0.0.2' | '127.0.0.3') {
  const requests: IncomingMessage[] = []
  const server = createServer((request) => void requests.push(request))
  server.listen(0, host)
  await once(server, 'listening')
  return {
    requests,
    url: `http://${host}:${(server.address() as AddressInfo).port}/a.tar.gz`,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const importStatus = async (who: Client, id: number) => (await who.get(`/projects/${id}/import`)).json.import_status
const exportStatus = async (who: Client, id: number) => (await who.get(`/projects/${id}/export`)).json.export_status

describe('addresses of archives that do not answer', () => {
  test('imports of one user whose archives do not arrive leave a slot for imports of other users', async () => {
    await using world = await World.start()
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    using remote = await stalled('127.0.0.2')
    using other = await stalled('127.0.0.3')
    const [ann, bob] = [await world.user(), await world.user()]
    const source = await storedProject(world)
    source.repository.commit({ a: 'a\n' })
    const archive = await exportOf(world, source.id)
    await world.runJobs()
    for (const { url } of [remote, other, remote, other])
      expect((await ann.post('/projects/remote-import', { url, path: unique('remote') })).status).toBe(201)
    await expect.poll(() => remote.requests.length + other.requests.length, { timeout: waitMs }).toBeGreaterThan(0)
    for (let n = 0; n < 2; n++) {
      const { id } = (await upload(bob, archive, { path: unique('imported') })).json
      await expect.poll(() => importStatus(bob, id), { timeout: waitMs }).toBe('finished')
    }
    expect(remote.requests.length + other.requests.length).toBe(1)
  })

  test('exports of one user whose receivers do not answer leave a slot for exports of other users', async () => {
    await using world = await World.start()
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    using remote = await stalled('127.0.0.2')
    using other = await stalled('127.0.0.3')
    const [ann, bob, eve] = [await world.user(), await world.user(), await world.user()]
    await world.runJobs()
    const requests = () => remote.requests.length + other.requests.length
    for (const { url } of [remote, other]) {
      const project = await storedProject(world, { members: [[ann, 'maintainer']] })
      await forgetHits(world, `project_export:${ann.id}`)
      expect(await ann.post(`/projects/${project.id}/export`, { upload: { url, http_method: 'PUT' } })).toMatchObject({
        status: 202,
      })
    }
    await expect.poll(requests, { timeout: waitMs }).toBeGreaterThan(0)
    for (const who of [bob, eve]) {
      const { id } = await storedProject(world, { members: [[who, 'maintainer']] })
      expect((await who.post(`/projects/${id}/export`)).status).toBe(202)
      await expect.poll(() => exportStatus(who, id), { timeout: waitMs }).toBe('finished')
    }
    expect(requests()).toBe(1)
  })
})
