import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import ssh2 from 'ssh2'
import { describe, expect, test } from 'vitest'
import { codeAt } from '../../src/modules/accounts/two-factor/testing.ts'
import { temporaryFolder } from '../../src/processes/testing/launch.ts'
import { basic, fail2banFilter, failRegex, from, launchLogged } from '../logged-service.ts'
import { hasSsh, keyPair, ssh, withKey } from '../ssh.ts'
import { eventually } from '../waiting.ts'
import { Client } from '../world.ts'

const password = 'correct horse battery'
const git = '//ann/logged.git/info/refs?service=git-upload-pack'
const run = promisify(execFile)
const hasFail2ban = await run('fail2ban-regex', ['--version']).then(
  () => true,
  () => false,
)

/** Opens an SSH connection with a password, as programs that guess passwords do. */
const sshPassword = (port: number) =>
  new Promise<void>((resolve) => {
    const connection = new ssh2.Client()
    connection.on('error', () => resolve())
    connection.on('close', () => resolve())
    const authHandler: ssh2.AuthenticationType[] = ['password']
    connection.connect({ host: '127.0.0.1', port, username: 'git', password: 'guess', authHandler })
  })

describe.skipIf(!hasSsh)('failed sign-ins in the log of a service (needs OpenSSH)', () => {
  test('a failed sign-in has one line with address, transport and reason, on every transport, and fail2ban finds the guesses', async () => {
    const { origin, root, anonymous, at, lines, text } = await launchLogged()
    const folder = await temporaryFolder()
    const user = { username: 'ann', name: 'Ann', email: 'ann@example.com', password, skip_confirmation: true }
    const { id } = (await root.post('/users', user)).json
    const tokenWith = async (scopes: string[], expires_at?: string) =>
      (await root.post(`/users/${id}/personal_access_tokens`, { name: 't', scopes, expires_at })).json
    const ann = new Client(origin, { id, username: 'ann', token: (await tokenWith(['api'])).token })
    const project = (await ann.post('/projects', { name: 'logged', initialize_with_readme: true })).json
    const deploy = (await ann.post(`/projects/${project.id}/deploy_tokens`, { name: 'd', scopes: ['read_repository'] }))
      .json
    await ann.delete(`/projects/${project.id}/deploy_tokens/${deploy.id}`)
    const revoked = await tokenWith(['api'])
    await root.delete(`/personal_access_tokens/${revoked.id}`)

    const expected: [string, string, string][] = []
    let attempts = 0
    /** Makes an attempt from an address of its own. */
    const attempt = async (
      transport: string,
      reason: string,
      method: string,
      path: string,
      headers: Record<string, string>,
      json?: object,
    ) => {
      const address = `203.0.113.${++attempts}`
      expected.push([address, transport, reason])
      const answer = await anonymous.send(method, path, { headers: { ...from(address), ...headers }, json })
      expect(answer.status, `${method} ${path}: ${answer.text}`).toBeGreaterThanOrEqual(400)
    }
    const guess = { authorization: 'Bearer guess' }
    const signIn = (body: object, reason: string, headers = {}) =>
      attempt('oauth', reason, 'POST', '//oauth/token', headers, body)
    const byPassword = (word: string) => ({ grant_type: 'password', username: 'ann', password: word })

    await attempt('api', 'unknown', 'GET', '/user', { 'private-token': 'guess' })
    await attempt('api', 'unknown', 'GET', '/user?private_token=guess', {})
    await attempt('api', 'unknown', 'GET', '/user', guess)
    await attempt('api', 'revoked', 'GET', '/user', { 'private-token': revoked.token })
    await attempt('api', 'unknown', 'POST', '//api/graphql', guess, { query: '{ metadata { version } }' })
    await attempt('web', 'unknown', 'GET', '//-/metrics', guess)
    await signIn(byPassword('guess'), 'wrong')
    await signIn({ grant_type: 'refresh_token', refresh_token: 'guess' }, 'refresh_token')
    await attempt('oauth', 'unknown', 'GET', '//oauth/token/info', guess)
    // A name that looks like other fields of the line.
    await attempt('git-http', 'wrong', 'GET', git, basic('x","remote_address":"198.51.100.1","', 'guess'))
    await attempt('git-http', 'revoked', 'GET', git, basic('ann', revoked.token))
    await attempt('git-http', 'revoked', 'GET', git, basic(deploy.username, deploy.token))
    await attempt('lfs', 'wrong', 'GET', '//ann/logged.git/info/lfs/locks', basic('ann', 'guess'))
    await attempt('lfs', 'unknown', 'GET', '//ann/logged.git/info/lfs/locks', guess)
    const jwt = '//jwt/auth?service=container_registry'
    await attempt('registry', 'wrong', 'GET', jwt, basic('ann', 'guess'))
    await attempt('registry', 'revoked', 'GET', jwt, basic('ann', revoked.token))
    await attempt('registry', 'unknown', 'GET', '//v2/', guess)
    const token = { 'private-token': ann.token! }
    await attempt('account', 'wrong', 'POST', '/user/two_factor', token, { password: 'guess' })
    const { secret } = (await ann.post('/user/two_factor', { password })).json
    await attempt('account', 'wrong', 'POST', '/user/two_factor/confirm', token, { code: '000000' })
    await ann.post('/user/two_factor/confirm', { code: codeAt(secret, Date.now()) })
    await signIn(byPassword(password), 'wrong_code', { 'x-service-otp': '000000' })
    await signIn(byPassword(password), 'code_missing')
    await attempt('git-http', 'code_missing', 'GET', git, basic('ann', password))
    await attempt('registry', 'code_missing', 'GET', jwt, basic('ann', password))
    // SSH connections have the address of this machine.
    const onSsh = (reason: string) => expected.push(['127.0.0.1', 'ssh', reason])
    await ssh(at, await keyPair(folder))
    onSsh('unknown_key')
    await sshPassword(at.config.sshPort)
    onSsh('unknown_key')
    const key = await withKey(folder, ann)
    await root.put('/application/settings', { ed25519_key_restriction: -1 })
    await eventually(async () => expect((await ssh(at, key)).code).not.toBe(0))
    onSsh('key_restricted')
    await root.put('/application/settings', { ed25519_key_restriction: 0 })
    await root.post(`/users/${id}/block`)
    await eventually(async () => expect((await ssh(at, key)).err).toContain('blocked'))
    onSsh('account_refused')

    const failed = () =>
      lines()
        .filter(({ event }) => event === 'sign_in_failed')
        .map((line) => [line['remote_address'], line['transport'], line['reason']])
    await eventually(() => expect(failed()).toHaveLength(expected.length))
    expect(failed()).toEqual(expected)
    expect(text()).not.toContain('correct horse')

    const guesses = new Set(['unknown', 'wrong', 'wrong_code', 'unknown_key', 'refresh_token', 'throttled'])
    const guessers = expected.filter(([, , reason]) => guesses.has(reason)).map(([address]) => address)
    const regex = await failRegex()
    const banned = text()
      .split('\n')
      .flatMap((each) => regex.exec(each)?.groups?.['host'] ?? [])
    expect(banned).toEqual(guessers)

    if (!hasFail2ban) return
    const [log, filter] = [join(folder, 'stithy.log'), join(folder, 'stithy.conf')]
    await writeFile(log, text())
    await writeFile(filter, await fail2banFilter())
    const found = await run('fail2ban-regex', ['--out', 'ip', log, filter])
    expect(found.stdout.trim().split('\n')).toEqual(guessers)
  })
})
