import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { codeAt } from '../../src/modules/accounts/two-factor/testing.ts'
import { freePort, Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { bin, freshEnv } from '../service.ts'
import { hasSsh, keyPair, ssh, withKey } from '../ssh.ts'
import { eventually } from '../waiting.ts'
import { Client, type World } from '../world.ts'

/** A service on its own ports that logs as an operator sees it. */
async function launch() {
  const env = {
    ...(await freshEnv()),
    STITHY_LOG_LEVEL: 'info',
    STITHY_PROCESSES: '1',
    STITHY_SSH_PORT: String(await freePort()),
  }
  const launched = new Launched(['serve'], env, { file: bin })
  await launched.ready()
  const origin = `http://127.0.0.1:${env.STITHY_HTTP_PORT}`
  return {
    origin,
    root: new Client(origin, { id: 1, username: 'root', token: 'root-token-for-tests' }),
    anonymous: new Client(origin),
    at: { config: { sshPort: Number(env.STITHY_SSH_PORT) } } as World,
    text: () => launched.out.slice(0, launched.out.lastIndexOf('\n') + 1),
    lines: () => parsed(launched.out),
  }
}

const parsed = (out: string): Record<string, any>[] =>
  out
    .slice(0, out.lastIndexOf('\n'))
    .split('\n')
    .map((line) => JSON.parse(line))

const from = (address: string) => ({ 'x-forwarded-for': address })
const basic = (username: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`,
})

/** The filter of the documentation, with its pattern of addresses. */
async function failRegex(): Promise<RegExp> {
  const text = await readFile(new URL('../../docs/logging.md', import.meta.url), 'utf8')
  return new RegExp(/^failregex = (.*)$/m.exec(text)![1]!.replace('<HOST>', '(?<host>[\\da-f.:]+)'))
}

describe.skipIf(!hasSsh)('the log of a service (needs OpenSSH)', () => {
  test('each request and command has time, level, address, route, user and id; each failed sign-in has one line', async () => {
    const { origin, root, anonymous, at, lines, text } = await launch()
    const folder = await temporaryFolder()
    const made = await root.post('/users', {
      username: 'ann',
      name: 'Ann',
      email: 'ann@example.com',
      password: 'correct horse battery',
      skip_confirmation: true,
    })
    const token = (await root.post(`/users/${made.json.id}/personal_access_tokens`, { name: 't', scopes: ['api'] }))
      .json
    const ann = new Client(origin, { id: made.json.id, username: 'ann', token: token.token })
    await ann.post('/projects', { name: 'logged', initialize_with_readme: true })

    // Successful requests.
    await ann.get('/projects/ann%2Flogged?secret=x', { headers: { ...from('192.0.2.1'), 'x-request-id': 'mine' } })
    await anonymous.get('//ann/logged.git/info/refs?service=git-upload-pack', {
      headers: { ...from('192.0.2.2'), ...basic('ann', token.token) },
    })
    await anonymous.get('/no/such/route', { headers: from('192.0.2.3') })
    const key = await withKey(folder, ann)
    expect((await ssh(at, key)).out + (await ssh(at, key)).err).toContain('ann')
    const line = (fields: object) => eventually(() => expect(lines()).toContainEqual(expect.objectContaining(fields)))
    const common = { level: 'info', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) }
    const caller = { user: 'ann', 'user.id': ann.id }
    await line({
      ...common,
      ...caller,
      msg: 'request',
      path: '/api/v4/projects/ann%2Flogged',
      route: '/api/v4/projects/:id',
      remote_address: '192.0.2.1',
      request_id: 'mine',
    })
    await line({
      ...common,
      ...caller,
      path: '/ann/logged.git/info/refs',
      route: '/*.git/info/refs',
      remote_address: '192.0.2.2',
      request_id: expect.any(String),
    })
    await line({ ...common, path: '/api/v4/no/such/route', route: 'none', remote_address: '192.0.2.3', status: 404 })
    await line({
      ...common,
      ...caller,
      msg: 'ssh command',
      command: 'welcome',
      remote_address: '127.0.0.1',
      request_id: expect.any(String),
    })

    // Failed sign-ins, each from its own address.
    const signIn = (address: string, password: string, headers = {}) =>
      anonymous.send('POST', '//oauth/token', {
        json: { grant_type: 'password', username: 'ann', password },
        headers: { ...from(address), ...headers },
      })
    await new Client(origin, { id: 0, username: '', token: 'guess' }).get('/user', { headers: from('203.0.113.1') })
    await signIn('203.0.113.2', 'guess')
    await anonymous.get('//ann/logged.git/info/refs?service=git-upload-pack', {
      headers: { ...from('203.0.113.3'), ...basic('x","remote_address":"198.51.100.1","', 'guess') },
    })
    await anonymous.get('//ann/logged.git/info/lfs/locks', {
      headers: { ...from('203.0.113.4'), authorization: 'Bearer guess' },
    })
    await anonymous.send('POST', '//oauth/token', {
      json: { grant_type: 'refresh_token', refresh_token: 'guess' },
      headers: from('2001:db8::5'),
    })
    const { secret } = (await ann.post('/user/two_factor', { password: 'correct horse battery' })).json
    await ann.post('/user/two_factor/confirm', { code: codeAt(secret, Date.now()) })
    await signIn('203.0.113.6', 'correct horse battery', { 'x-service-otp': '000000' })
    await signIn('203.0.113.7', 'correct horse battery')
    await ssh(at, await keyPair(folder))

    const regex = await failRegex()
    const banned = () =>
      text()
        .split('\n')
        .flatMap((each) => regex.exec(each)?.groups?.['host'] ?? [])
    const guessers = [
      '203.0.113.1',
      '203.0.113.2',
      '203.0.113.3',
      '203.0.113.4',
      '2001:db8::5',
      '203.0.113.6',
      '127.0.0.1',
    ]
    await eventually(() => expect(banned().sort()).toEqual(guessers.sort()))
    const failed = lines().filter(({ event }) => event === 'sign_in_failed')
    expect(failed.map(({ remote_address: host, transport, reason }) => [host, transport, reason])).toEqual([
      ['203.0.113.1', 'api', 'unknown'],
      ['203.0.113.2', 'oauth', 'wrong'],
      ['203.0.113.3', 'git-http', 'wrong'],
      ['203.0.113.4', 'lfs', 'wrong'],
      ['2001:db8::5', 'oauth', 'refresh_token'],
      ['203.0.113.6', 'oauth', 'wrong_code'],
      ['203.0.113.7', 'oauth', 'code_missing'],
      ['127.0.0.1', 'ssh', 'unknown_key'],
    ])
    // Fail2ban removes the date before it compares.
    const withoutDate = (each: string) => each.replace(/"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/, '')
    expect(
      text()
        .split('\n')
        .filter((each) => regex.test(withoutDate(each))),
    ).toHaveLength(guessers.length)
    expect(text()).not.toContain('correct horse')
    // Jobs of the schedule write no lines at this level.
    expect(
      lines()
        .filter(({ msg }) => msg === 'job done')
        .map(({ job }) => job),
    ).not.toContain('recover_pushes')

    const metrics = (await root.get('//-/metrics')).text
    for (const series of [
      'stithy_http_requests_total{method="GET",route="/api/v4/projects/:id",status="200"} 1',
      'stithy_http_request_duration_seconds_count{method="GET",route="/api/v4/projects/:id"} 1',
      'stithy_http_requests_total{method="GET",route="none",status="404"} 1',
      'stithy_git_operation_duration_seconds_count{operation="other",transport="ssh",result="success"} 2',
      'stithy_sign_in_failures_total{transport="ssh",reason="unknown_key"} 1',
      'stithy_ssh_connections 0',
      'stithy_jobs{state="failed"} 0',
    ])
      expect(metrics).toContain(`${series}\n`)
    for (const series of ['stithy_disk_free_bytes', 'stithy_disk_size_bytes', 'stithy_jobs{state="due"}'])
      expect(metrics).toMatch(new RegExp(`^${series.replace(/[{}]/g, '\\$&')} \\d`, 'm'))
    expect(metrics).toMatch(/^stithy_build_info\{version="\d+\.\d+\.\d+",node="v\d+/m)
  })
})
