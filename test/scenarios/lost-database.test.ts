import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { basicOf, Registry } from '../../src/edges/registry/testing.ts'
import { freePort, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { behindProxy } from '../behind-proxy.ts'
import { rootToken } from '../service.ts'
import { hasSsh, ssh, withKey } from '../ssh.ts'
import { eventually } from '../waiting.ts'
import { Client, type World } from '../world.ts'

const json = { 'content-type': 'application/json' }
const lfs = { 'content-type': 'application/vnd.git-lfs+json' }

test('credentials that the lost database cannot confirm get a 503 with Retry-After on every transport, not a 401', async () => {
  const { proxy, origin } = await behindProxy()
  const root = new Client(origin, { id: 1, username: 'root', token: rootToken })
  expect((await root.post('/projects', { path: 'lost' })).status).toBe(201)
  const registry = await Registry.open(root, 'root/lost')
  const layer = await registry.push('layer')
  await proxy[Symbol.asyncDispose]()

  const basic = basicOf('root', rootToken)
  const bearer = { authorization: `Bearer ${registry.token}` }
  const batch = JSON.stringify({ operation: 'upload', objects: [{ oid: hash('sha256', 'x'), size: 1 }] })
  const requests: readonly (readonly [method: string, path: string, headers: Record<string, string>, body?: string])[] =
    [
      ['GET', '/api/v4/user', { 'private-token': rootToken }],
      ['POST', '/api/v4/projects', { 'private-token': rootToken, ...json }, '{"path":"next"}'],
      ['GET', '/root/lost.git/info/refs?service=git-receive-pack', basic],
      ['GET', '/root/next.git/info/refs?service=git-receive-pack', basic],
      ['GET', '/root/lost.git/info/refs?service=git-upload-pack', basicOf('root', 'a password')],
      ['POST', '/root/lost.git/git-receive-pack', basic, '0000'],
      ['POST', '/root/lost.git/info/lfs/objects/batch', { ...basic, ...lfs }, batch],
      ['GET', '/jwt/auth?service=container_registry&scope=repository:root/lost:pull', basic],
      ['GET', `/v2/root/lost/blobs/${layer}`, bearer],
      ['POST', '/v2/root/lost/blobs/uploads/', bearer],
      ['POST', '/oauth/token', json, '{"grant_type":"password","username":"root","password":"a password"}'],
    ]
  const answers = await Promise.all(
    requests.map(async ([method, path, headers, body]) => {
      const answer = await fetch(origin + path, { method, headers, ...(body !== undefined && { body }) })
      return [path, answer.status, answer.headers.get('retry-after')]
    }),
  )
  expect(answers).toEqual(requests.map(([, path]) => [path, 503, expect.stringMatching(/^[0-9]+$/)]))
})

describe.skipIf(!hasSsh)('SSH without a database (needs OpenSSH)', () => {
  test('a key that the lost database cannot confirm is a warning in the log, as over HTTP, not an error of the service', async () => {
    const sshPort = await freePort()
    const { launched, proxy, origin } = await behindProxy({
      STITHY_LOG_LEVEL: 'warn',
      STITHY_SSH_PORT: String(sshPort),
    })
    const root = new Client(origin, { id: 1, username: 'root', token: rootToken })
    const key = await withKey(await temporaryFolder(), root)
    const at = { config: { sshPort } } as World
    expect((await ssh(at, key)).out).toContain('root')
    await proxy[Symbol.asyncDispose]()
    expect((await ssh(at, key)).code).not.toBe(0)
    const level = () => /"level":"(\w+)".*"a key could not be looked up"/.exec(launched.out)?.[1]
    await eventually(() => expect(level()).toBe('warn'))
  })
})
