import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'
import { basic, from, launchLogged } from '../logged-service.ts'
import { hasSsh, ssh, withKey } from '../ssh.ts'
import { eventually } from '../waiting.ts'
import { Client } from '../world.ts'

describe.skipIf(!hasSsh)('the log of a service (needs OpenSSH)', () => {
  test('each request and command has time, level, address, route, user and id', async () => {
    const { origin, root, anonymous, at, lines } = await launchLogged()
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

    // Jobs of the schedule write no lines at this level.
    expect(
      lines()
        .filter(({ msg }) => msg === 'job done')
        .map(({ job }) => job),
    ).not.toContain('recover_pushes')
  })
})
