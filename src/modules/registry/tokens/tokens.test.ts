import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { Client, test, unique } from '../../../../test/world.ts'
import { askToken, basicOf, claimsOf, imageAt, Registry, repositoryOf } from '../../../edges/registry/testing.ts'

const accessOf = async (...asked: Parameters<typeof askToken>) => {
  const { status, json, text } = await askToken(...asked)
  expect(status, text).toBe(200)
  return claimsOf(json.token).access
}

const repository = (name: string, actions: string) => `repository:${name}:${actions}`

describe('GET /jwt/auth', () => {
  test('a token is signed by the key of the installation and has the claims of the specification', async ({
    world,
  }) => {
    const project = await world.project()
    const name = imageAt(project)
    const { json } = await askToken(world.root, [repository(name, 'pull,push')], { account: 'root', client_id: 'x' })
    expect(Object.keys(json)).toEqual(['token'])
    const [head, body, signature] = json.token.split('.')
    const path = join(world.config.dataDir, 'registry', 'token-key.pem')
    const key = createPublicKey(await readFile(path, 'utf8'))
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))).toBe(true)
    const bits = createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest()
      .subarray(0, 30)
    const { alg, kid } = JSON.parse(Buffer.from(head, 'base64url').toString())
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
    const binary = [...kid.replaceAll(':', '')].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0'))
    expect([alg, kid]).toEqual(['RS256', expect.stringMatching(/^([A-Z2-7]{4}:){11}[A-Z2-7]{4}$/)])
    expect(binary.join('')).toBe([...bits].map((byte) => byte.toString(2).padStart(8, '0')).join(''))
    const claims = claimsOf(json.token)
    expect(claims).toMatchObject({
      iss: 'stithy-issuer',
      sub: 'root',
      aud: 'container_registry',
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      access: [{ type: 'repository', name, actions: ['pull', 'push'] }],
    })
    expect([claims.exp - claims.iat, claims.iat - claims.nbf]).toEqual([300, 5])
    // The repository exists from now on.
    expect(await repositoryOf(world, project)).toMatchObject({ name: '', path: name })
  })

  test('a key that was replaced or removed signs no token any more, and those it has signed grant nothing', async ({
    world,
  }) => {
    const name = imageAt(await world.project())
    const path = join(world.config.dataDir, 'registry', 'token-key.pem')
    const reads = async (registry: Registry) => (await registry.send('GET', 'tags/list')).status
    const first = await Registry.open(world.root, name)
    expect(await reads(first)).toBe(200)
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    await writeFile(`${path}.new`, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    await rename(`${path}.new`, path)
    expect(await reads(first)).toBe(401)
    const second = await Registry.open(world.root, name)
    expect(await reads(second)).toBe(200)
    await rm(path)
    const others = await Promise.all([1, 2, 3].map(() => Registry.open(world.root, name)))
    expect(await Promise.all([second, ...others].map(reads))).toEqual([401, 200, 200, 200])
  })

  test('404 for an unknown service', async ({ world }) => {
    for (const query of ['', '?service=other']) expect((await world.root.get(`//jwt/auth${query}`)).status).toBe(404)
  })

  test('anonymous callers get 403 unless something is granted', async ({ world }) => {
    const [closed, open] = [await world.project(), await world.project({ visibility: 'public' })]
    const denied = { status: 403, json: { errors: [{ code: 'DENIED', message: 'access forbidden' }] } }
    expect(await askToken(world.anonymous, [])).toMatchObject(denied)
    expect(await askToken(world.anonymous, [repository(imageAt(closed), 'pull')])).toMatchObject(denied)
    expect(await askToken(world.anonymous, [repository(imageAt(open), 'push')])).toMatchObject(denied)
    const answer = await askToken(world.anonymous, [repository(imageAt(open), 'pull,push')])
    expect(claimsOf(answer.json.token)).toMatchObject({
      sub: null,
      access: [{ type: 'repository', name: imageAt(open), actions: ['pull'] }],
    })
  })

  test('signed-in callers get a token without access if nothing is granted', async ({ world }) => {
    const user = await world.user()
    expect(await accessOf(user, [])).toEqual([])
    expect(await accessOf(user, [repository(imageAt(await world.project()), 'pull')])).toEqual([])
    expect(await accessOf(user, ['nonsense', 'repository:x', 'repository:a b:pull', 'registry:catalog:*'])).toEqual([])
  })

  test('401 for wrong credentials; users with a second factor need a token', async ({ world }) => {
    const user = await world.user()
    const ask = (headers: Record<string, string>) =>
      world.anonymous.get('//jwt/auth?service=container_registry', { headers })
    expect(await ask(basicOf(user.username, 'wrong'))).toMatchObject({
      status: 401,
      json: { errors: [{ code: 'UNAUTHORIZED', message: 'HTTP Basic: Access denied' }] },
    })
    expect((await ask(basicOf(user.username, 'correct horse battery'))).status).toBe(200)
    expect((await ask({ authorization: 'Basic !' })).status).toBe(401)
    await world.settings({ password_authentication_enabled_for_git: false })
    expect(await ask(basicOf(user.username, 'correct horse battery'))).toMatchObject({
      status: 401,
      json: { errors: [{ code: 'UNAUTHORIZED', message: expect.stringContaining('personal access token') }] },
    })
  })

  test('too many wrong passwords are throttled as over Git', async ({ world }) => {
    const user = await world.user()
    const ask = (password: string) =>
      world.anonymous.get('//jwt/auth?service=container_registry', { headers: basicOf(user.username, password) })
    let last = await ask('wrong')
    for (let at = 0; at < 30 && last.status === 401; at++) last = await ask('wrong')
    expect(last).toMatchObject({ status: 429, json: { errors: [{ code: 'TOOMANYREQUESTS' }] } })
    expect(last.headers['retry-after']).toMatch(/^\d+$/)
  })

  test('several scopes, classes and actions are granted as far as the caller may', async ({ world }) => {
    const developer = await world.user()
    const [own, other] = [await world.project({ members: [[developer, 'developer']] }), await world.project()]
    const scopes = [
      `repository(plugin):${imageAt(own)}:pull,push,delete,*,fly`,
      `${repository(imageAt(own, 'a/b'), 'pull')} ${repository(imageAt(other), 'pull,push')}`,
    ]
    expect(await accessOf(developer, scopes)).toEqual([
      { type: 'repository', name: imageAt(own), actions: ['pull', 'push'] },
      { type: 'repository', name: imageAt(own, 'a/b'), actions: ['pull'] },
    ])
    expect(await accessOf(world.root, [repository(imageAt(own), 'delete,*')])).toEqual([
      { type: 'repository', name: imageAt(own), actions: ['delete', '*'] },
    ])
    expect(await accessOf(world.root, ['registry:catalog:*'])).toEqual([
      { type: 'registry', name: 'catalog', actions: ['*'] },
    ])
  })

  test('the project of an image is the longest prefix of its path, with at most two segments after it', async ({
    world,
  }) => {
    const user = await world.user()
    const group = await world.group()
    const outer = await world.project({ group, members: [[user, 'developer']] })
    const inner = await world.group({ parent: group, path: unique('inner') })
    const project = await world.project({ group: inner, members: [[user, 'developer']] })
    const granted = async (name: string) => (await accessOf(user, [repository(name, 'push')])).length
    expect(await granted(imageAt(project, 'a/b'))).toBe(1)
    expect(await granted(imageAt(project, 'a/b/c'))).toBe(0)
    expect(await granted(imageAt(outer, 'a'))).toBe(1)
    expect(await granted(group.full_path)).toBe(0)
    expect(await granted(imageAt(project).toUpperCase())).toBe(0)
    expect(await granted(`${imageAt(project)}/-a`)).toBe(0)
    expect(await repositoryOf(world, project, 'a/b')).toMatchObject({ name: 'a/b', path: imageAt(project, 'a/b') })
  })

  test.for([
    [['read_registry'], ['pull']],
    [['write_registry'], ['push']],
    [
      ['read_registry', 'write_registry'],
      ['pull', 'push'],
    ],
    [['api'], ['pull', 'push', 'delete']],
    [['read_api'], []],
    [['read_repository', 'write_repository', 'read_user'], []],
  ] as const)('a personal token with the scopes %s grants %s', async ([scopes, actions], { world }) => {
    const user = await world.user()
    const project = await world.project({ members: [[user, 'maintainer']] })
    const access = await accessOf(await world.as(user, scopes), [repository(imageAt(project), 'pull,push,delete')])
    expect(access.flatMap((each: any) => each.actions)).toEqual(actions)
  })

  test('project, group and deploy tokens grant what their scopes say in their project only', async ({ world }) => {
    const group = await world.group()
    const [project, other] = [await world.project({ group }), await world.project()]
    const granted = async (username: string, token: string, in_ = project) => {
      const query = new URLSearchParams({
        service: 'container_registry',
        scope: repository(imageAt(in_), 'pull,push,delete'),
      })
      const answer = await world.anonymous.get(`//jwt/auth?${query}`, { headers: basicOf(username, token) })
      return claimsOf(answer.json.token).access.flatMap((each: any) => each.actions)
    }
    for (const at of [`/projects/${project.id}`, `/groups/${group.id}`]) {
      const access = {
        name: 'bot',
        scopes: ['read_registry', 'write_registry'],
        access_level: 30,
        expires_at: '2099-01-01',
      }
      const bot = (await world.root.post(`${at}/access_tokens`, access)).json
      expect(await granted('any', bot.token)).toEqual(['pull', 'push'])
      expect(await granted('any', bot.token, other)).toEqual([])
      for (const [scopes, actions] of [
        [['read_registry'], ['pull']],
        [['write_registry'], ['push']],
        [['read_repository'], []],
      ] as const) {
        const deploy = (await world.root.post(`${at}/deploy_tokens`, { name: 'd', scopes })).json
        expect(await granted(deploy.username, deploy.token)).toEqual(actions)
        expect(await granted(deploy.username, deploy.token, other)).toEqual([])
      }
    }
  })

  test('a valid credential of any scopes and limits pulls what anonymous callers may pull', async ({ world }) => {
    const user = await world.user()
    const [open, internal, members] = await Promise.all([
      world.project({ visibility: 'public' }),
      world.project({ visibility: 'internal' }),
      world.project({ visibility: 'public' }),
    ])
    await world.root.put(`/projects/${members.id}`, { container_registry_access_level: 'private' })
    await (await Registry.open(world.root, imageAt(open))).image('one')
    const at = `/projects/${(await world.project()).id}`
    const made = async (path: string, more: object) => (await world.root.post(path, { name: 'x', ...more })).json
    const bot = { access_level: 30, expires_at: '2099-01-01' }
    const tokens = [
      ...(['read_repository', 'read_api', 'read_user', 'write_registry'] as const).map((scope) =>
        made(`/users/${user.id}/personal_access_tokens`, { scopes: [scope] }),
      ),
      made(`/users/${user.id}/impersonation_tokens`, { scopes: ['read_repository'] }),
      made(`${at}/deploy_tokens`, { scopes: ['read_repository'] }),
      made(`${at}/access_tokens`, { scopes: ['read_registry', 'write_registry'], ...bot }),
      made(`${at}/access_tokens`, { scopes: ['api'], ...bot }),
    ]
    for (const { username = 'any', token, scopes } of await Promise.all(tokens)) {
      const client = new Client(world.origin, { id: 0, username, token })
      const asked = [open, internal, members].map((project) => repository(imageAt(project), 'pull,push,delete'))
      const granted = [{ type: 'repository', name: imageAt(open), actions: ['pull'] }]
      expect(await accessOf(client, asked), scopes.join()).toEqual(granted)
      const registry = await Registry.open(client, imageAt(open))
      expect((await registry.send('GET', 'manifests/one')).status, scopes.join()).toBe(200)
      expect((await registry.send('POST', 'blobs/uploads/')).status, scopes.join()).toBe(401)
    }
  })

  test('401 for an invalid credential, also for images that anonymous callers may pull', async ({ world }) => {
    const user = await world.user()
    const project = await world.project({ visibility: 'public' })
    const scope = [repository(imageAt(project), 'pull')]
    expect((await askToken(world.anonymous, scope)).status).toBe(200)
    const revoked = await world.as(user, ['read_registry'])
    await revoked.delete('/personal_access_tokens/self')
    const ask = async (client: Client) => (await askToken(client, scope)).status
    expect(await ask(new Client(world.origin, { id: 0, username: user.username, token: 'x'.repeat(20) }))).toBe(401)
    await expect.poll(() => ask(revoked)).toBe(401)
    await world.root.post(`/users/${user.id}/block`)
    await expect.poll(() => ask(user)).toBe(403)
  })

  test('users who have not accepted the terms are granted nothing', async ({ world }) => {
    const user = await world.user()
    const project = await world.project({ members: [[user, 'developer']] })
    expect(await accessOf(user, [repository(imageAt(project), 'pull')])).toHaveLength(1)
    const catalog = (await askToken(world.root, ['registry:catalog:*'])).json.token
    await world.settings({})
    await world.root.put('/application/settings', { enforce_terms: true, terms: 'Be kind' })
    expect(await accessOf(user, [repository(imageAt(project), 'pull')])).toEqual([])
    expect(await accessOf(world.root, ['registry:catalog:*'])).toEqual([])
    const headers = { authorization: `Bearer ${catalog}` }
    expect((await world.anonymous.get('//v2/_catalog', { headers })).status).toBe(401)
  })

  test('the lifetime of a token follows the setting', async ({ world }) => {
    await world.settings({ container_registry_token_expire_delay: 60 })
    const { exp, iat } = claimsOf((await askToken(world.root, [])).json.token)
    expect(exp - iat).toBe(3600)
  })
})
