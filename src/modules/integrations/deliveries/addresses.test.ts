import { describe, expect } from 'vitest'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import { tablesWithText } from '../../../../test/tables/hooks.ts'
import { eventually } from '../../../../test/waiting.ts'
import { test, unique } from '../../../../test/world.ts'
import { hookFor, openIssue, quickWorld } from './testing.ts'

/** Spellings of addresses that requests must not reach. */
const localUrls: readonly string[] = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1', '127.0.0.2'],
  ...['127.255.255.254', '0', '0.0.0.0', '0x0', '00000', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]'],
  ...['[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::ffff:0:127.0.0.1]', 'localhost'],
  ...[
    'LOCALHOST',
    'localhost.',
    '１２７.０.０.１',
    '127。0。0。1',
    '①②⑦.⓪.⓪.①',
    '10.0.0.1',
    '10.255.255.255',
    '0xa000001',
  ],
  ...['167772161', '012.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.1.254', '3232235521'],
  ...['0xc0a80001', '[fc00::1]', '[fd00:ec2::254]', '[fec0::1]', '[::ffff:10.0.0.1]', '[::ffff:192.168.0.1]'],
  ...[
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b:1::1]',
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '[::ffff:169.254.169.254]',
  ],
  ...['[fe80::1]', '169.254.170.2', '100.64.0.1', '100.100.100.200', '224.0.0.1', '239.255.255.250', '255.255.255.255'],
  ...['[ff02::1]', '198.18.0.1', '192.0.0.192', '192.0.2.1', '203.0.113.1', '240.0.0.1'],
]
  .map((host) => `http://${host}/`)
  .concat([
    'https://127.0.0.1:8443/x',
    'http://ann:sesame@127.0.0.1/',
    'http://203.0.114.1@127.0.0.1/',
    'http://127.0.0.1#@203.0.114.1/',
    'http://127.0.0.1?@203.0.114.1/',
    'http://127.0.0.1\\@203.0.114.1/',
    'http://a.example/\r\nHost: 127.0.0.1',
    'http://a%0d%0ab@203.0.114.1/',
    'gopher://127.0.0.1:6379/_x',
    'file:///etc/passwd',
    'ftp://203.0.114.1/',
    'dict://127.0.0.1:11211/',
    'ldap://127.0.0.1/',
    'unix:///var/run/docker.sock',
    'jar:http://127.0.0.1/',
    '//127.0.0.1/',
    'http:///127.0.0.1/',
    'http://[::1',
  ])

describe('addresses of the local network', () => {
  test(`D2-SETTINGS-LOCAL-REQUESTS: ${localUrls.length} URLs are refused as hooks when local requests are off`, async ({
    world,
  }) => {
    await world.settings({ allow_local_requests_from_system_hooks: false })
    const project = await world.project()
    const accepted: string[] = []
    for (const url of localUrls)
      for (const hooks of [`/projects/${project.id}/hooks`, '/hooks']) {
        const { status, json } = await world.root.post(hooks, { url })
        if (status !== 422 || json.error !== 'Invalid url given') accepted.push(`${hooks} ${url}`)
      }
    expect(accepted).toEqual([])
  })

  test('a hook of the local network receives nothing once the setting forbids it, and catches up when it allows it', async () => {
    await using world = await quickWorld()
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    await world.settings({ allow_local_requests_from_web_hooks_and_services: false })
    await world.runJobs()
    await openIssue(world, project, 'Blocked')
    await eventually(async () => {
      const [waiting] = (await world.root.get(`${at}/events`)).json
      expect(waiting.error).toMatch(/^The address is blocked: /)
    })
    expect(receiver.received).toEqual([])
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await receiver.request(({ json }) => json.object_attributes.title === 'Blocked')
  })

  test('a redirect to the local network is not followed', async () => {
    await using world = await quickWorld()
    await using receiver = await HookReceiver.start()
    await world.settings({
      allow_local_requests_from_web_hooks_and_services: false,
      outbound_local_requests_whitelist: ['127.0.0.1'],
    })
    const target = receiver.url.replace('127.0.0.1', '127.0.0.2')
    receiver.answering = (_received, response) => void response.writeHead(307, { location: target }).end()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    await world.runJobs()
    await openIssue(world, project, 'Redirected')
    await eventually(async () => {
      const [waiting] = (await world.root.get(`${at}/events`)).json
      expect(waiting.error).toBe('The address is blocked: Requests to loopback addresses are not allowed')
    })
  })
})

test('secrets of a hook are in no table, log or response after requests that failed', async () => {
  await using world = await quickWorld()
  await using receiver = await HookReceiver.start()
  const [secret, token] = [unique('hidden'), unique('token')]
  const project = await world.project()
  const at = await hookFor(world, project, receiver.url.replace('http://', `http://ann:${secret}@`), { token })
  receiver.answering = (_received, response) => void response.writeHead(500).end('no')
  await world.runJobs()
  await openIssue(world, project, 'Failing')
  const { headers } = await receiver.request(() => true)
  expect(headers).toMatchObject({ 'x-gitlab-token': token, authorization: expect.stringMatching(/^Basic /) })
  await eventually(async () => expect((await world.root.get(`${at}/events`)).json[0].attempts).toBeGreaterThan(0))
  const log = await world.root.get(`${at}/events`)
  for (const word of [secret, token]) {
    expect(log.text).not.toContain(word)
    expect(await tablesWithText(world, word)).toEqual([])
  }
})
