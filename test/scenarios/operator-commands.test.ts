import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, chownSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, onTestFinished } from 'vitest'
import { writePrivateFile } from '../../src/kernel/private-file.ts'
import { beginRotation } from '../../src/kernel/secrets.ts'
import { writeMarker } from '../../src/modules/projects/installation/marker.ts'
import { freePort, isAlive, Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { startMailServer } from '../mail-server.ts'
import { bin, freshEnv, serve } from '../service.ts'
import { eventsOf } from '../tables/events.ts'
import { waitingFor } from '../tables/instance.ts'
import { mirrorRows } from '../tables/mirrors.ts'
import { addTwoFactor, sealedSpamKey, sealedVariables, twoFactorOf } from '../tables/sign-in.ts'
import { changeUser } from '../tables/users.ts'
import { eventually } from '../waiting.ts'
import { Client, test, unique, World } from '../world.ts'

/** Runs a command until it ends. */
async function command(words: readonly string[], env: Record<string, string>) {
  const launched = new Launched(words, env, { file: bin })
  return { code: await launched.exit, out: launched.out, err: launched.err }
}

/** The findings of a subject, each as `level text`, of the output of doctor. */
const about = (subject: string, out: string): string[] =>
  out.split('\n').flatMap((line) => {
    const [, level, name, text] = /^(ok|warning|failed)\s+(\S+(?: \S+)?)\s{2,}(.*)$/.exec(line) ?? []
    return name === subject ? [`${level} ${text}`] : []
  })

/** A proxy in front of the service that adds these headers. */
async function proxyTo(port: string, headers: (address: string) => Record<string, string>): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const added = headers(incoming.socket.remoteAddress!)
    const onwards = request(
      {
        host: '127.0.0.1',
        port,
        path: incoming.url,
        method: incoming.method,
        headers: { ...incoming.headers, ...added },
      },
      (response) => {
        outgoing.writeHead(response.statusCode!, response.headers)
        response.pipe(outgoing)
      },
    )
    incoming.pipe(onwards)
  })
  const own = await freePort()
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${own}`
}

/** The settings of commands that use the database and the folder of a world. */
const envOf = async ({ config, databaseUrl }: World): Promise<Record<string, string>> => ({
  STITHY_DATA_DIR: config.dataDir,
  STITHY_DATABASE_URL: databaseUrl,
  STITHY_HTTP_PORT: String(await freePort()),
  STITHY_LOG_LEVEL: 'fatal',
})

describe('stithy doctor', () => {
  test('doctor reports a sound installation that is stopped, and exits with 0', async () => {
    const env = await freshEnv()
    const { code, out, err } = await command(['doctor'], env)
    expect({ code, err: err.includes('    at ') }, out + err).toEqual({ code: 0, err: false })
    expect(about('Settings', out)).toEqual(['ok valid'])
    expect(about('Git', out)).toEqual([expect.stringMatching(/^ok \d+\.\d+.*merges/)])
    expect(about('Data folder', out)).toEqual([`ok ${env.STITHY_DATA_DIR}: rename and fsync work`])
    expect(about('Database', out)).toEqual([expect.stringMatching(/^ok PostgreSQL \d+/)])
    expect(about('Clock', out)).toEqual(['ok agrees with the database'])
    expect(about('Ports', out)).toEqual([`ok 127.0.0.1:${env.STITHY_HTTP_PORT} is free (STITHY_HTTP_PORT)`])
    expect(about('Mail', out)).toEqual([expect.stringMatching(/^warning no mail server is set/)])
    expect(out).toMatch(/\d+ ok, \d+ warnings?, 0 failed\n$/)
  })

  test('doctor fails where a restore was not completed', async () => {
    const env = await freshEnv()
    writeFileSync(join(env.STITHY_DATA_DIR, 'unfinished-restore'), '')
    const { code, out } = await command(['doctor'], env)
    expect([code, about('Data folder', out)[0]]).toEqual([
      1,
      `failed the restore into ${env.STITHY_DATA_DIR} has not been completed, and nothing starts there`,
    ])
  })

  test('doctor warns of a database that accepts fewer connections than the service may open', async () => {
    const { code, out } = await command(['doctor'], { ...(await freshEnv()), STITHY_PROCESSES: '20' })
    expect(code).toBe(0)
    expect(about('Database', out)).toEqual([
      expect.stringMatching(/^ok PostgreSQL/),
      expect.stringMatching(/^warning accepts \d+ connections, and Stithy opens up to 472/),
    ])
  })

  test('doctor lists every invalid setting and exits with 2', async () => {
    const { code, out } = await command(['doctor'], { STITHY_HTTP_PORT: 'no', STITHY_PLAN: 'no' })
    expect(code).toBe(2)
    expect(about('Settings', out)).toEqual([
      expect.stringMatching(/^failed STITHY_HTTP_PORT must/),
      expect.stringMatching(/^failed STITHY_PLAN must/),
    ])
  })

  test('doctor reports a taken port and an unreachable database, and says what to do', async () => {
    const env = await freshEnv()
    const taken = createTcpServer().listen(Number(env.STITHY_HTTP_PORT), '127.0.0.1')
    onTestFinished(() => void taken.close())
    const unreachable = `postgresql://ann:hunter22@127.0.0.1:${await freePort()}/stithy`
    const { code, out } = await command(['doctor'], { ...env, STITHY_DATABASE_URL: unreachable })
    expect(code).toBe(1)
    expect(about('Ports', out)).toEqual([expect.stringMatching(/^failed Another program already listens/)])
    expect(about('Database', out)).toEqual([expect.stringMatching(/^failed Cannot reach the database/)])
    expect(out).toContain('→ Check STITHY_DATABASE_URL')
    expect(out).not.toContain('hunter22')
  })

  test('doctor reports which headers a proxy does not send', async () => {
    const env = await freshEnv()
    await serve(env)
    const good = await proxyTo(env.STITHY_HTTP_PORT, (address) => ({
      'x-forwarded-for': address,
      'x-forwarded-proto': 'http',
    }))
    const bare = await proxyTo(env.STITHY_HTTP_PORT, () => ({ host: 'localhost' }))
    const findings = async (url: string) =>
      about('Address', (await command(['doctor'], { ...env, STITHY_EXTERNAL_URL: url })).out)
    expect(await findings(`http://127.0.0.1:${env.STITHY_HTTP_PORT}`)).toEqual([
      expect.stringMatching(/^ok .*without a proxy/),
    ])
    expect(await findings(good)).toEqual([expect.stringMatching(/^ok .*through a proxy.*127\.0\.0\.1/)])
    expect(await findings(bare)).toEqual([
      expect.stringMatching(/^warning .*does not send X-Forwarded-For/),
      expect.stringMatching(/^warning X-Forwarded-Proto is missing/),
      expect.stringMatching(/^warning .*sends the host localhost/),
    ])
    expect(await findings(`http://127.0.0.1:${await freePort()}`)).toEqual([
      expect.stringMatching(/^failed .*does not lead/),
    ])
  })

  test('doctor --mail-to sends a mail, and reports a server that refuses it', async () => {
    const env = await freshEnv()
    await using server = await startMailServer()
    const mailing = { ...env, STITHY_SMTP_URL: server.url }
    const sent = await command(['doctor', '--mail-to', 'ann@example.com'], mailing)
    expect(sent.code, sent.out).toBe(0)
    expect(server.lines).toContain('RCPT TO:<ann@example.com>')
    // Without a port, which no id of a mail may have.
    expect(server.lines).toContainEqual(expect.stringMatching(/^Message-ID: <[\w-]+@127\.0\.0\.1>$/i))
    const refused = await command(['doctor', '--mail-to', 'refused@example.com'], mailing)
    expect(refused.code).toBe(1)
    expect(about('Mail', refused.out)).toEqual([expect.stringMatching(/^failed .*did not accept a mail/)])
  })
})

describe('stithy token', () => {
  const create = (world: World, username: string, ...words: string[]) =>
    envOf(world).then((env) => command(['token', 'create', '--user', username, '--scopes', 'read_user', ...words], env))

  test('a token that an operator creates is in the audit log without an author', async ({ world }) => {
    const ann = await world.user()
    expect((await create(world, ann.username, '--name', 'automation')).code).toBe(0)
    const [made] = (await world.root.get('/audit_events')).json
    expect(made).toMatchObject({
      ...{ event_name: 'access_token_created', author_id: -1, entity_id: ann.id },
      details: { target_details: 'automation', facts: { scopes: ['read_user'], expires_at: null } },
    })
  })

  test('an operator names the user of a token, also one whose name is the id of another', async ({ world }) => {
    const ann = await world.user()
    const named = await world.user({ username: String(ann.id) })
    const { out } = await create(world, named.username)
    const self = { id: named.id, username: named.username, token: out.trim() }
    expect((await new Client(world.origin, self).get('/user')).json).toMatchObject({ id: named.id })
  })

  test('a token that an operator creates has at most the lifetime of the settings', async ({ world }) => {
    const ann = await world.user()
    await world.root.put('/application/settings', { max_personal_access_token_lifetime: 30 })
    onTestFinished(async () => {
      await world.root.put('/application/settings', { max_personal_access_token_lifetime: null })
    })
    const { out } = await create(world, ann.username)
    const self = await new Client(world.origin, { id: ann.id, username: ann.username, token: out.trim() }).get(
      '/personal_access_tokens/self',
    )
    expect(Date.parse(self.json.expires_at) - Date.now()).toBeLessThan(31 * 24 * 3600 * 1000)
    expect(await create(world, ann.username, '--expires-at', '2099-01-31')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^expires_at must be before/),
    })
  })

  test('the exit code is 2 if no token can have the scopes', async ({ world }) => {
    const { username } = await world.user()
    expect(
      await command(['token', 'create', '--user', username, '--scopes', 'everything'], await envOf(world)),
    ).toEqual({
      code: 2,
      out: '',
      err: 'scopes can only contain available scopes. See stithy --help.\n',
    })
  })
})

describe('a wrong database', () => {
  test('a database without tables, and a server that is no PostgreSQL, are refused in one sentence', async ({
    world,
  }) => {
    const env = await envOf(world)
    const other = new URL(env['STITHY_DATABASE_URL']!)
    other.pathname = '/postgres'
    expect(await command(['user', 'list'], { ...env, STITHY_DATABASE_URL: other.href })).toEqual({
      code: 1,
      out: '',
      err: 'There is no installation in this database: set STITHY_DATABASE_URL to the one of the service, or start the service.\n',
    })
    const server = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const url = `postgresql://ann:secret@127.0.0.1:${port}/stithy`
    const { code, err } = await command(['user', 'list'], { ...env, STITHY_DATABASE_URL: url })
    expect(code).toBe(1)
    expect(err).toMatch(/^The database .*\n$/)
    expect(err).not.toContain('    at ')
  })
})

describe('stithy user', () => {
  test('user list prints every user with state and role', async ({ world }) => {
    const ann = await world.user()
    const { code, out } = await command(['user', 'list'], await envOf(world))
    expect(code).toBe(0)
    expect(out).toContain('\troot\t')
    expect(out).toMatch(new RegExp(`^${ann.id}\t${ann.username}\t${ann.username}@example.com\tactive\tuser\t`, 'm'))
  })

  test('user reset-password prints a password with which the user signs in, and the old one fails', async ({
    world,
  }) => {
    const ann = await world.user({ password: 'the password before' })
    const signIn = async (password: string) =>
      (await world.anonymous.post('//oauth/token', { grant_type: 'password', username: ann.username, password })).status
    expect(await signIn('the password before')).toBe(200)
    const { code, out } = await command(['user', 'reset-password', '--user', ann.username], await envOf(world))
    expect(code).toBe(0)
    const [, password] = /is now (\S{24,})\n/.exec(out)!
    expect(await signIn('the password before')).not.toBe(200)
    expect(await signIn(password!)).toBe(200)
  })

  test('user unlock lets a user sign in after too many failures', async ({ world }) => {
    const ann = await world.user({ password: 'a correct password' })
    const signIn = async (password: string) =>
      (await world.anonymous.post('//oauth/token', { grant_type: 'password', username: ann.username, password })).status
    for (let attempt = 0; attempt < 10; attempt++) await signIn('wrong')
    expect(await signIn('a correct password')).not.toBe(200)
    expect((await command(['user', 'unlock', '--user', ann.username], await envOf(world))).code).toBe(0)
    expect(await signIn('a correct password')).toBe(200)
  })

  test('user unblock and make-admin change the account within a second and are in the audit log', async ({ world }) => {
    const ann = await world.user()
    const env = await envOf(world)
    expect((await world.root.post(`/users/${ann.id}/block`)).status).toBe(201)
    expect((await command(['user', 'make-admin', '--user', ann.username], env)).code).toBe(1)
    expect((await command(['user', 'unblock', '--user', ann.username], env)).out).toBe(
      `${ann.username} is active and was blocked\n`,
    )
    expect((await command(['user', 'make-admin', '--user', ann.username], env)).code).toBe(0)
    await eventually(async () => expect((await ann.get('/application/settings')).status).toBe(200))
    const kinds = await eventsOf(world, { actor: null, payload: { user_id: String(ann.id) } }, 'kind')
    expect(kinds.map(({ kind }: { kind: string }) => kind)).toEqual(['user_unblocked', 'user_updated'])
  })

  test('a key of secrets that others can read, or that is damaged, is refused in one sentence', async ({ world }) => {
    const env = { ...(await envOf(world)), STITHY_DATA_DIR: await temporaryFolder() }
    const file = join(env.STITHY_DATA_DIR, 'secrets.keys')
    writeFileSync(file, 'a key', { mode: 0o644 })
    chmodSync(file, 0o644)
    expect(await command(['user', 'unlock', '--user', 'root'], env)).toMatchObject({
      code: 1,
      err: `${file} must be readable by its owner alone (chmod 600)\n`,
    })
    chmodSync(file, 0o600)
    expect(await command(['user', 'unlock', '--user', 'root'], env)).toMatchObject({
      code: 1,
      err: `${file} is damaged: restore the one that belongs to the database.\n`,
    })
  })

  test('an unknown user is refused in one sentence', async ({ world }) => {
    const { code, err } = await command(['user', 'unlock', '--user', 'no-such-user'], await envOf(world))
    expect({ code, err }).toEqual({ code: 1, err: 'User no-such-user Not Found\n' })
    expect(await command(['user', 'unlock'], await envOf(world))).toMatchObject({ code: 2 })
  })
})

describe('stithy rotate-secrets', () => {
  /** A world with a secret of every kind that a request can store. */
  async function withSecrets() {
    const world = await World.start()
    onTestFinished(() => world[Symbol.asyncDispose]())
    const project = (await world.root.post('/projects', { name: unique('p') })).json
    const group = (await world.root.post('/groups', { name: 'g', path: unique('g') })).json
    for (const holder of [`/projects/${project.id}`, `/groups/${group.id}`, '/admin/ci'])
      expect(
        (await world.root.post(`${holder}/variables`, { key: 'PASSWORD', value: `secret of ${holder}` })).status,
      ).toBe(201)
    expect((await world.root.put('/application/settings', { spam_filter_api_key: 'key of the filter' })).status).toBe(
      200,
    )
    const url = 'https://ann:word@203.0.114.1/a.git'
    const mirrors = [
      await world.root.put(`/projects/${project.id}`, { mirror: true, import_url: url }),
      await world.root.post(`/projects/${project.id}/remote_mirrors`, { url }),
    ]
    expect(mirrors.map(({ status }) => status)).toEqual([200, 201])
    await addTwoFactor(
      world,
      1,
      (await world.app.open(null)).secrets.seal('JBSWY3DPEHPK3PXP', 'two-factor secret of user 1'),
    )
    const keys = join(world.config.dataDir, 'secrets.keys')
    const [old] = readFileSync(keys, 'utf8').split('\n')
    /** All stored secrets as the service reads them after a start. */
    const read = async () => {
      const { createApp } = await import('../../src/app.ts')
      const { inject } = await import('vitest')
      const config = { ...world.config, logLevel: 'fatal' as const }
      await using app = await createApp(config, {
        databaseUrl: world.databaseUrl,
        runnerSocket: inject('runnerSocket'),
      })
      const { secrets } = await app.open(null)
      const rows = await sealedVariables(world)
      const [factor] = await twoFactorOf(world, 1)
      const [settings] = await sealedSpamKey(world)
      const [pull] = await mirrorRows(world, 'pull_mirrors')
      const [push] = await mirrorRows(world, 'push_mirrors')
      return [
        secrets.open(pull.sealed_url, `source of the pull mirror of project ${pull.project_id}`),
        secrets.open(push.sealed_url, `target of the push mirror ${push.id}`),
        ...rows.map((row: any) =>
          secrets.open(row.sealed_value, `variable ${row.project_id ?? '-'} ${row.namespace_id ?? '-'} ${row.key}`),
        ),
        secrets.open(factor.secret, 'two-factor secret of user 1'),
        secrets.open(settings.sealed, 'setting spam_filter_api_key'),
      ]
    }
    const keysNow = () => readFileSync(keys, 'utf8').trim().split('\n')
    return { world, env: await envOf(world), old: old!, keysNow, read, keys }
  }

  test('rotate-secrets encrypts every secret with a new key and removes the old one', async () => {
    const { env, old, keysNow, read } = await withSecrets()
    const before = await read()
    const { code, out, err } = await command(['rotate-secrets'], env)
    expect({ code, out }, err).toMatchObject({ code: 0, out: expect.stringMatching(/^7 secrets are encrypted/) })
    expect(keysNow()).toHaveLength(1)
    expect(keysNow()).not.toContain(old)
    expect(await read()).toEqual(before)
  })

  test('a rotation killed in the middle loses no secret, and the next one completes it', async () => {
    const { world, env, old, keysNow, read } = await withSecrets()
    const before = await read()
    const blocker = new pg.Client({ connectionString: world.databaseUrl })
    await blocker.connect()
    await blocker.query('begin')
    // The settings are encrypted first: the rotation then waits in the middle of its transaction.
    await blocker.query('lock table variables in access exclusive mode')
    const rotating = new Launched(['rotate-secrets'], env, { file: bin })
    await eventually(async () => expect((await waitingFor(world, 'lock', 'variables')).length).toBeGreaterThan(0))
    rotating.process.kill('SIGKILL')
    await rotating.exit
    expect(isAlive(rotating.pid)).toBe(false)
    await blocker.query('rollback')
    await blocker.end()
    const interrupted = keysNow()
    expect(interrupted).toHaveLength(2)
    expect(interrupted[1]).toBe(old)
    expect(await read()).toEqual(before)
    const again = await command(['rotate-secrets'], env)
    expect(again.code, again.err).toBe(0)
    expect(keysNow()).toEqual([interrupted[0]])
    expect(await read()).toEqual(before)
  })

  test('a rotation killed between the commit and the removal of the old key is completed by the next one', async () => {
    const { env, old, keysNow, read, keys } = await withSecrets()
    const before = await read()
    expect((await command(['rotate-secrets'], env)).code).toBe(0)
    const [fresh] = keysNow()
    writeFileSync(keys, `${fresh}\n${old}\n`)
    expect((await command(['rotate-secrets'], env)).out).toMatch(/^0 secrets/)
    expect(keysNow()).toEqual([fresh])
    expect(await read()).toEqual(before)
  })

  test('a secret that no module re-encrypts refuses the rotation, and the old key remains', async () => {
    const { world, env, old, keysNow, read } = await withSecrets()
    const { secrets } = await world.app.open(null)
    await changeUser(world, 1, { note: `"${secrets.seal('x', 'unknown')}"` })
    const before = await read()
    const { code, err } = await command(['rotate-secrets'], env)
    expect({ code, err }).toEqual({
      code: 1,
      err: 'The old key is still in use in users.note, so nothing was changed.\n',
    })
    expect(keysNow()).toContain(old)
    expect(await read()).toEqual(before)
  })

  test('rotate-secrets refuses to run while the service runs', async () => {
    const env = await freshEnv()
    await serve(env)
    const { code, err } = await command(['rotate-secrets'], env)
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('Stithy already runs') })
  })
})

describe.runIf(process.getuid?.() === 0)('users of the system (skipped: needs root)', () => {
  test('what root writes into the data folder of another user belongs to that user, so that the service can read it', async () => {
    const folder = await temporaryFolder()
    const uid = 4_321
    chownSync(folder, uid, uid)
    beginRotation(join(folder, 'secrets.keys'))
    await writeMarker(folder, { id: randomUUID(), pending: false })
    writePrivateFile(join(folder, 'last-backup.json'), '{}')
    for (const name of readdirSync(folder)) expect([name, statSync(join(folder, name)).uid]).toEqual([name, uid])
    expect(readdirSync(folder).sort()).toEqual(['installation', 'last-backup.json', 'secrets.keys'])
  })

  test('doctor without permissions on the data folder completes its checks, and names the owner', async () => {
    const env = await freshEnv()
    const doctor = spawnSync(process.execPath, [bin, 'doctor'], {
      env: { PATH: process.env['PATH'], ...env, HOME: env.STITHY_DATA_DIR },
      uid: 65_534,
      gid: 65_534,
      encoding: 'utf8',
    })
    expect({ code: doctor.status, err: doctor.stderr }).toEqual({ code: 1, err: '' })
    expect(about('Data folder', doctor.stdout)[0]).toMatch(/^failed .* belongs to user 0, and this is user 65534$/)
    expect(about('Database', doctor.stdout)).toEqual([expect.stringMatching(/^failed .*permission denied$/)])
    expect(doctor.stdout).toMatch(/^\d+ ok, \d+ warnings?, \d+ failed$/m)
  })
})
