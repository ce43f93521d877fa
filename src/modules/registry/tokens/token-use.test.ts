import { createSign, generateKeyPairSync } from 'node:crypto'
import { describe, expect } from 'vitest'
import { beginRequest } from '../../../../test/begun-request.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { Client, test, type World } from '../../../../test/world.ts'
import { askToken, basicOf, claimsOf, imageAt, ociManifest, Registry } from '../../../edges/registry/testing.ts'
import { withTwoFactor } from '../../accounts/two-factor/testing.ts'

const repository = (name: string, actions: string) => `repository:${name}:${actions}`

describe('a token of the registry', () => {
  test('is asked for by a challenge that names the scope', async ({ world }) => {
    const name = imageAt(await world.project())
    const send = (path: string, headers = {}) => world.anonymous.get(`//v2/${path}`, { headers })
    const realm = `Bearer realm="${world.config.externalUrl}/jwt/auth",service="container_registry"`
    const base = await send('')
    expect(base).toMatchObject({
      status: 401,
      json: { errors: [{ code: 'UNAUTHORIZED' }] },
      headers: { 'www-authenticate': realm, 'docker-distribution-api-version': 'registry/2.0' },
    })
    expect((await send(`${name}/tags/list`)).headers['www-authenticate']).toBe(
      `${realm},scope="repository:${name}:pull"`,
    )
    const begun = await world.anonymous.send('POST', `//v2/${name}/blobs/uploads/?from=a/b&mount=x`)
    expect(begun.headers['www-authenticate']).toBe(`${realm},scope="repository:${name}:pull,push repository:a/b:pull"`)
    const { json } = await askToken(await world.user(), [])
    const known = { authorization: `Bearer ${json.token}` }
    expect((await send('', known)).status).toBe(200)
    expect((await send(`${name}/tags/list`, known)).headers['www-authenticate']).toMatch(/error="insufficient_scope"$/)
    expect((await send('_catalog', known)).headers['www-authenticate']).toContain('scope="registry:catalog:*"')
  })

  test('is refused if it was forged, changed or has expired', async ({ world }) => {
    const project = await world.project()
    const registry = await Registry.open(world.root, imageAt(project))
    await registry.image('one')
    const [head, body, signature] = registry.token!.split('.') as [string, string, string]
    const claims = claimsOf(registry.token!)
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const unsigned = `${encode({ alg: 'none', typ: 'JWT' })}.${body}`
    const forged = createSign('sha256').update(`${head}.${body}`).sign(other).toString('base64url')
    for (const token of [
      `${head}.${encode({ ...claims, sub: 'x' })}.${signature}`,
      `${head}.${body}.${forged}`,
      `${unsigned}.`,
      `${unsigned}.${signature}`,
      'x',
      world.root.token!,
    ])
      expect(
        (
          await world.anonymous.get(`//v2/${registry.name}/tags/list`, {
            headers: { authorization: `Bearer ${token}` },
          })
        ).status,
      ).toBe(401)
    expect((await registry.send('GET', 'tags/list')).status).toBe(200)
  })

  test('grants nothing once the right, the token or the account behind it has ended', async ({ world }) => {
    const user = await world.user()
    const project = await world.project()
    const at = `/projects/${project.id}`
    const join = (level: number) => world.root.post(`${at}/members`, { user_id: user.id, access_level: level })
    await join(30)
    await (await Registry.open(world.root, imageAt(project))).image('one')
    const client = await world.as(user, ['read_registry', 'write_registry'])
    const registry = await Registry.open(client, imageAt(project), 'pull,push')
    const both = async () => [
      (await registry.send('GET', 'manifests/one')).status,
      (await registry.send('POST', 'blobs/uploads/')).status,
    ]
    expect(await both()).toEqual([200, 202])
    await world.root.put(`${at}/members/${user.id}`, { access_level: 20 })
    expect(await both()).toEqual([200, 401])
    await world.root.put(`${at}/members/${user.id}`, { access_level: 30 })
    await world.root.put(at, { container_registry_access_level: 'disabled' })
    expect(await both()).toEqual([401, 401])
    await world.root.put(at, { container_registry_access_level: 'private' })
    await world.archive(project)
    expect(await both()).toEqual([200, 401])
    await changeProject(world, project.id, { archived: false })
    expect(await both()).toEqual([200, 202])
    await world.root.delete(`${at}/members/${user.id}`)
    expect(await both()).toEqual([401, 401])
    await join(30)
    expect(await both()).toEqual([200, 202])
    await world.root.post(`/users/${user.id}/block`)
    expect(await both()).toEqual([401, 401])
    await world.root.post(`/users/${user.id}/unblock`)
    expect(await both()).toEqual([200, 202])
    const tokens = (await world.root.get(`/personal_access_tokens?user_id=${user.id}`)).json
    for (const { id } of tokens) await world.root.delete(`/personal_access_tokens/${id}`)
    expect(await both()).toEqual([401, 401])
  })

  test.for<[string, (world: World, ann: Client, projectId: number) => Promise<unknown>]>([
    ['the membership ends', (world, ann, id) => world.root.delete(`/projects/${id}/members/${ann.id}`)],
    ['the account is blocked', (world, ann) => world.root.post(`/users/${ann.id}/block`)],
    ['the access token is revoked', (_world, ann) => ann.delete('/personal_access_tokens/self')],
    ['nothing happens', async () => undefined],
  ])('puts a manifest whose body is still to come, unless its right has ended: %s', async ([what, end], { world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    const registry = await Registry.open(ann, imageAt(project), 'pull,push')
    const manifest = JSON.stringify(await registry.manifestOf())
    const late = beginRequest(`${world.origin}/v2/${registry.name}/manifests/late`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${registry.token}`, 'content-type': ociManifest },
    })
    await late.begun
    await end(world, ann, project.id)
    const isAllowed = what === 'nothing happens'
    expect(await late.complete(manifest)).toMatchObject({ status: isAllowed ? 201 : 401 })
    expect(await (await Registry.open(world.root, registry.name)).tags()).toEqual(isAllowed ? ['late'] : [])
  })

  test.for<[string, (world: World, ann: Client) => Promise<unknown>]>([
    ['is changed', (world, ann) => world.root.put(`/users/${ann.id}`, { password: 'another horse battery' })],
    ['needs a second factor', (world, ann) => withTwoFactor(world, ann)],
    ['is not accepted any more', (world) => world.settings({ password_authentication_enabled_for_git: false })],
  ])(
    'of a password grants nothing, also to a manifest whose body is still to come, once the password %s',
    async ([, end], { world }) => {
      const ann = await world.user()
      const project = await world.project({ members: [[ann, 'developer']] })
      const byPassword = new Client(world.origin, { ...ann, token: 'correct horse battery' })
      const registry = await Registry.open(byPassword, imageAt(project), 'pull,push')
      await registry.image('one')
      const manifest = JSON.stringify(await registry.manifestOf())
      const late = beginRequest(`${world.origin}/v2/${registry.name}/manifests/late`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${registry.token}`, 'content-type': ociManifest },
      })
      await late.begun
      expect((await registry.send('GET', 'manifests/one')).status).toBe(200)
      await end(world, ann)
      expect((await registry.send('GET', 'manifests/one')).status).toBe(401)
      expect(await late.complete(manifest)).toMatchObject({ status: 401 })
      expect(await (await Registry.open(world.root, registry.name)).tags()).toEqual(['one'])
    },
  )

  test('of a revoked deploy token grants nothing', async ({ world }) => {
    const project = await world.project()
    await (await Registry.open(world.root, imageAt(project))).image('one')
    const at = `/projects/${project.id}/deploy_tokens`
    const deploy = (await world.root.post(at, { name: 'd', scopes: ['read_registry'] })).json
    const query = new URLSearchParams({ service: 'container_registry', scope: repository(imageAt(project), 'pull') })
    const { json } = await world.anonymous.get(`//jwt/auth?${query}`, {
      headers: basicOf(deploy.username, deploy.token),
    })
    const read = async () =>
      (
        await world.anonymous.get(`//v2/${imageAt(project)}/manifests/one`, {
          headers: { authorization: `Bearer ${json.token}` },
        })
      ).status
    expect(await read()).toBe(200)
    await world.root.delete(`${at}/${deploy.id}`)
    expect(await read()).toBe(401)
  })

  test('for one repository does not reach another', async ({ world }) => {
    const [one, two] = [await world.project(), await world.project()]
    const registry = await Registry.open(world.root, imageAt(one))
    expect((await registry.send('GET', `/v2/${imageAt(two)}/tags/list`)).status).toBe(401)
    expect((await registry.send('GET', `/v2/${imageAt(one, 'more')}/tags/list`)).status).toBe(401)
  })
})
