import { randomBytes } from 'node:crypto'
import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { changeIdempotencyKeys, idempotencyKeys } from '../../../../test/tables/instance.ts'
import { ago } from '../../../../test/tables/statements.ts'
import { type Answer, Client, test, unique, type World } from '../../../../test/world.ts'
import { withTwoFactor } from '../../../modules/accounts/two-factor/testing.ts'
import { purgeIdempotencyKeys } from '../../../modules/instance/idempotency-keys/jobs.ts'
import { storedProject } from '../../../modules/repository/commits/testing.ts'
import { openMergeRequest } from '../../../modules/review/merge-requests/testing.ts'

const send = (who: Client, key: string, method: string, path: string, json?: unknown): Promise<Answer> =>
  who.send(method, path, { headers: { 'idempotency-key': key }, ...(json !== undefined && { json }) })

async function withProject(world: World) {
  const ann = await world.user()
  const { id } = await world.project({ members: [[ann, 'maintainer']] })
  return { ann, id, at: `/projects/${id}` }
}

/** Sends a request twice and expects the same answer. */
async function twice(who: Client, method: string, path: string, json?: unknown): Promise<Answer> {
  const key = unique('key')
  const first = await send(who, key, method, path, json)
  const second = await send(who, key, method, path, json)
  expect(second).toMatchObject({ status: first.status, text: first.text })
  expect(second.headers['content-type']).toBe(first.headers['content-type'])
  expect([first.headers['idempotency-replayed'], second.headers['idempotency-replayed']]).toEqual([undefined, 'true'])
  return first
}

const busy = {
  status: 409,
  headers: { 'retry-after': '1' },
  json: { message: 'The first request with this Idempotency-Key is still running' },
}

describe('a repeat with the same Idempotency-Key', () => {
  test('gets the answer of the first request, and creates nothing', async ({ world }) => {
    const { ann, at } = await withProject(world)
    expect(await twice(ann, 'POST', `${at}/issues`, { title: 'Once' })).toMatchObject({ status: 201 })
    expect((await ann.get(`${at}/issues`)).json).toHaveLength(1)
    const { json: issue } = await ann.post(`${at}/issues`, { title: 'Other' })
    const { json: note } = await twice(ann, 'POST', `${at}/issues/${issue.iid}/notes`, { body: 'Hello' })
    expect((await ann.get(`${at}/issues/${issue.iid}/notes`)).json).toMatchObject([{ id: note.id }])
  })

  test('gets the answer of an update and of a deletion', async ({ world }) => {
    const { ann, at } = await withProject(world)
    await ann.post(`${at}/labels`, { name: 'bug', color: '#ff0000' })
    expect(await twice(ann, 'PUT', `${at}/labels/bug`, { new_name: 'fault' })).toMatchObject({ status: 200 })
    expect(await twice(ann, 'DELETE', `${at}/labels/fault`)).toMatchObject({ status: 204, text: '' })
  })

  test('gets a secret again, which is stored encrypted', async ({ world }) => {
    const ann = await world.user()
    const made = await twice(world.root, 'POST', `/users/${ann.id}/personal_access_tokens`, {
      name: 'ci',
      scopes: ['api'],
    })
    expect(made).toMatchObject({ status: 201, json: { token: expect.any(String) } })
    const stored = JSON.stringify(await idempotencyKeys(world, world.root.id))
    expect(stored).toContain('v1:')
    expect(stored).not.toContain(made.json.token)
  })

  test('gets a refusal again, although it would be accepted by now', async ({ world }) => {
    const { ann, at } = await withProject(world)
    const key = unique('key')
    const first = await send(ann, key, 'PUT', `${at}/labels/late`, { description: 'x' })
    expect(first).toMatchObject({ status: 404 })
    await ann.post(`${at}/labels`, { name: 'late', color: '#ff0000' })
    expect(await send(ann, key, 'PUT', `${at}/labels/late`, { description: 'x' })).toMatchObject({
      status: 404,
      text: first.text,
    })
  })

  test('runs again after a conflict, which may have ended', async ({ world }) => {
    const { ann, at } = await withProject(world)
    const label = { name: 'bug', color: '#ff0000' }
    await ann.post(`${at}/labels`, label)
    const key = unique('key')
    expect((await send(ann, key, 'POST', `${at}/labels`, label)).status).toBe(409)
    await ann.delete(`${at}/labels/bug`)
    expect((await send(ann, key, 'POST', `${at}/labels`, label)).status).toBe(201)
  })

  test('does not hide failed attempts from the throttle', async ({ world }) => {
    const ann = await world.user()
    await withTwoFactor(world, ann)
    const guess = () => send(ann, unique('key'), 'POST', '/user/two_factor/recovery_codes', { code: 'guess' })
    for (let count = 0; count < 10; count++) expect((await guess()).status).toBe(400)
    expect((await guess()).status).toBe(429)
  })

  test('uploads a file once', async ({ world }) => {
    const { ann, at } = await withProject(world)
    const key = unique('key')
    const upload = (content: string) => {
      const body = new FormData()
      body.append('file', new File([content], 'a.txt'))
      return ann.send('POST', `${at}/uploads`, { headers: { 'idempotency-key': key }, body })
    }
    const first = await upload('one')
    expect(first.status).toBe(201)
    expect(await upload('one')).toMatchObject({ status: 201, text: first.text })
    expect((await upload('two')).status).toBe(422)
    expect((await ann.get(`${at}/uploads`)).json).toHaveLength(1)
  })

  test('of many at once, one takes effect, and the others wait or get its answer', async ({ world }) => {
    const { ann, at } = await withProject(world)
    const key = unique('key')
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send(ann, key, 'POST', `${at}/issues`, { title: 'Once' })),
    )
    const made = answers.filter(({ status }) => status === 201)
    expect(made.length).toBeGreaterThan(0)
    expect(new Set(made.map(({ json }) => json.id)).size).toBe(1)
    for (const answer of answers) if (answer.status !== 201) expect(answer).toMatchObject(busy)
    expect((await ann.get(`${at}/issues`)).json).toHaveLength(1)
  })

  test('is refused with 422 for another method, path, body or query', async ({ world }) => {
    const { ann, at } = await withProject(world)
    const key = unique('key')
    const label = { name: 'bug', color: '#ff0000' }
    expect((await send(ann, key, 'POST', `${at}/labels`, label)).status).toBe(201)
    const refused = { status: 422, json: { error: 'This Idempotency-Key was used for another request' } }
    expect(await send(ann, key, 'POST', `${at}/labels`, { ...label, name: 'other' })).toMatchObject(refused)
    expect(await send(ann, key, 'POST', `${at}/labels?priority=1`, label)).toMatchObject(refused)
    expect(await send(ann, key, 'POST', `${at}/milestones`, { title: 'bug' })).toMatchObject(refused)
    expect(await send(ann, key, 'DELETE', `${at}/labels/bug`)).toMatchObject(refused)
    // The same request, written differently.
    const { name, color } = label
    expect(await send(ann, key, 'POST', `${at}/labels`, { color, name })).toMatchObject({ status: 201 })
    expect(await send(ann, key, 'POST', `${at}/labels?color=%23ff0000&name=bug`)).toMatchObject({ status: 201 })
  })

  test('of another user, or of an administrator who acts as the user, is another request', async ({ world }) => {
    const { ann, at, id } = await withProject(world)
    const bob = await world.user()
    await world.root.post(`/projects/${id}/members`, { user_id: bob.id, access_level: 40 })
    const key = unique('key')
    const ids = new Set<number>()
    for (const who of [ann, bob, world.root]) {
      ids.add((await send(who, key, 'POST', `${at}/issues`, { title: 'Mine' })).json.id)
    }
    const sudo = { 'idempotency-key': key, sudo: ann.username }
    ids.add((await world.root.send('POST', `${at}/issues`, { headers: sudo, json: { title: 'Mine' } })).json.id)
    expect(ids.size).toBe(4)
    const second = await world.as(ann)
    expect(ids).toContain((await send(second, key, 'POST', `${at}/issues`, { title: 'Mine' })).json.id)
  })

  test('of a token that may not create tokens does not get a token that was created with another', async ({
    world,
  }) => {
    const ann = await world.user()
    const key = unique('key')
    const create = (who: Client) =>
      send(who, key, 'POST', '/user/personal_access_tokens', { name: 'x', scopes: ['api'] })
    expect((await create(ann)).status).toBe(201)
    const withToken = (token: string) => new Client(world.origin, { ...ann, token })
    const path = `/users/${ann.id}/impersonation_tokens`
    const impersonation = (await world.root.post(path, { name: 'x', scopes: ['api'] })).json.token
    const signIn = { grant_type: 'password', username: ann.username, password: 'correct horse battery' }
    const { access_token: oauth } = (await world.anonymous.post('//oauth/token', signIn)).json
    for (const token of [impersonation, oauth])
      expect(await create(withToken(token))).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    expect((await create(await world.as(ann))).status, 'another personal token').toBe(201)
  })

  test('of a token without the scope sudo does not get a rotated token that has it', async ({ world }) => {
    const admin = await world.user({ admin: true })
    const [rotated, full, lesser] = [
      await world.as(admin, ['api', 'sudo']),
      await world.as(admin, ['api', 'sudo']),
      await world.as(admin, ['api']),
    ]
    const { id } = (await rotated.get('/personal_access_tokens/self')).json
    const key = unique('key')
    const rotate = (who: Client) => send(who, key, 'POST', `/personal_access_tokens/${id}/rotate`)
    expect((await rotate(full)).status).toBe(200)
    expect((await rotate(lesser)).json.token).toBeUndefined()
  })

  test('of OAuth is the same request after the token was refreshed', async ({ world }) => {
    const { ann, at } = await withProject(world)
    const signIn = { grant_type: 'password', username: ann.username, password: 'correct horse battery' }
    const first = (await world.anonymous.post('//oauth/token', signIn)).json
    const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
    const create = (token: string, key: string) =>
      send(new Client(world.origin, { ...ann, token }), key, 'POST', `${at}/issues`, { title: 'Once' })
    const key = unique('key')
    const made = await create(first.access_token, key)
    expect(made.status).toBe(201)
    const second = (await world.anonymous.post('//oauth/token', refresh)).json
    expect((await create(second.access_token, key)).json.id).toBe(made.json.id)
  })

  test('after a day is a new request', async ({ world }) => {
    const { ann, at } = await withProject(world)
    const key = unique('key')
    const first = await send(ann, key, 'POST', `${at}/issues`, { title: 'Daily' })
    await changeIdempotencyKeys(world, ann.id, { created_at: ago('23 hours') })
    expect((await send(ann, key, 'POST', `${at}/issues`, { title: 'Daily' })).json.id).toBe(first.json.id)
    await changeIdempotencyKeys(world, ann.id, { created_at: ago('1 day') })
    expect((await send(ann, key, 'POST', `${at}/issues`, { title: 'Weekly' })).json.title).toBe('Weekly')
    await changeIdempotencyKeys(world, ann.id, { created_at: ago('25 hours') })
    await purgeIdempotencyKeys.run({}, await world.app.open(null))
    expect(await idempotencyKeys(world, ann.id)).toEqual([])
  })
})

describe('requests that change a repository', () => {
  test('commit, tag, branch and merge once', async ({ world }) => {
    const { project, at: mergeRequest } = await openMergeRequest(world, {})
    const at = `/projects/${project.id}`
    const { root } = world
    const actions = [{ action: 'create', file_path: 'new', content: 'x' }]
    const commit = { branch: 'main', commit_message: 'New file', actions }
    const made = await twice(root, 'POST', `${at}/repository/commits`, commit)
    expect(made.status).toBe(201)
    expect((await root.get(`${at}/repository/branches/main`)).json.commit.id).toBe(made.json.id)
    const file = { branch: 'main', commit_message: 'x', content: 'y' }
    expect(await twice(root, 'PUT', `${at}/repository/files/new`, file)).toMatchObject({ status: 200 })
    expect(await twice(root, 'POST', `${at}/repository/branches`, { branch: 'b', ref: 'main' })).toMatchObject({
      status: 201,
    })
    expect(await twice(root, 'POST', `${at}/repository/tags`, { tag_name: 'v1', ref: 'main' })).toMatchObject({
      status: 201,
    })
    expect(await twice(root, 'DELETE', `${at}/repository/branches/b`)).toMatchObject({ status: 204 })
    expect(await twice(root, 'PUT', `${mergeRequest}/merge`)).toMatchObject({ status: 200, json: { state: 'merged' } })
    expect(await twice(root, 'POST', `${at}/repository/commits`, commit)).toMatchObject({ status: 400 })
  })

  test('a new project with a first commit is created once', async ({ world }) => {
    const ann = await world.user()
    const made = await twice(ann, 'POST', '/projects', { name: 'first', initialize_with_readme: true })
    expect(made.status).toBe(201)
    expect((await ann.get('/projects?owned=true')).json).toMatchObject([{ id: made.json.id, default_branch: 'master' }])
  })

  test('of many at once, one commits', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a' })
    const key = unique('key')
    const create = () =>
      send(world.root, key, 'POST', `/projects/${project.id}/repository/files/b`, {
        branch: 'main',
        commit_message: 'x',
        content: 'x',
      })
    const answers = await Promise.all(Array.from({ length: 8 }, create))
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0)
    for (const answer of answers) if (answer.status !== 201) expect(answer).toMatchObject(busy)
    expect(await create()).toMatchObject({ status: 201 })
  })

  test('an interrupted request is not repeated if it may have taken effect', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world, { members: [[ann, 'maintainer']] })
    project.repository.commit({ a: 'a' })
    const key = unique('key')
    const file = { branch: 'main', commit_message: 'x', content: 'x' }
    const create = () => send(ann, key, 'POST', `/projects/${project.id}/repository/files/b`, file)
    expect((await create()).status).toBe(201)
    await changeIdempotencyKeys(world, ann.id, { state: 'running' })
    expect(await create()).toMatchObject(busy)
    await changeIdempotencyKeys(world, ann.id, { leased_until: ago('1 second') })
    expect(await create()).toMatchObject({
      status: 409,
      json: {
        message:
          'The first request with this Idempotency-Key was interrupted and may have taken effect: check, then use another key',
      },
    })
    // Before it took effect, it may run again.
    await ann.delete(`/projects/${project.id}/repository/files/b?branch=main&commit_message=x`)
    await changeIdempotencyKeys(world, ann.id, { took_effect: false })
    expect((await create()).status).toBe(201)
  })

  test('a refusal is stored, too', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a' })
    const file = { branch: 'main', commit_message: 'x', content: 'x' }
    expect(await twice(world.root, 'POST', `/projects/${project.id}/repository/files/a`, file)).toMatchObject({
      status: 400,
      json: { message: 'A file with this name already exists' },
    })
  })
})

test('keys are 1 to 255 printable characters; reads ignore them', async ({ world }) => {
  const { ann, at } = await withProject(world)
  for (const key of ['x'.repeat(256), ' ', 'a\tb', 'é'])
    expect(await send(ann, key, 'POST', `${at}/issues`, { title: 'x' })).toMatchObject({
      status: 400,
      json: { error: 'Idempotency-Key is invalid' },
    })
  expect((await send(ann, 'x'.repeat(255), 'POST', `${at}/issues`, { title: 'x' })).status).toBe(201)
  expect(await send(ann, 'x'.repeat(256), 'GET', `${at}/issues`)).toMatchObject({ status: 200 })
})

test('an answer that is too large to store is not repeated, nor is its request', async ({ world }) => {
  const { ann, at } = await withProject(world)
  const repeatOf = async (description: string) => {
    const key = unique('key')
    const issue = { title: 'Large', description }
    expect(await send(ann, key, 'POST', `${at}/issues`, issue)).toMatchObject({ status: 201 })
    return send(ann, key, 'POST', `${at}/issues`, issue)
  }
  expect(await repeatOf('€'.repeat(1_000_000))).toMatchObject({ status: 201 })
  // Random text does not compress.
  expect(
    await repeatOf(
      randomBytes(1_500_000)
        .toString('base64')
        .slice(0, 1_000_000 + 40_000),
    ),
  ).toMatchObject({
    status: 201,
  })
  const random = new Uint16Array(randomBytes(1_500_000).buffer).map((value) => 0x4e00 + (value % 0x4000))
  expect(await repeatOf(new TextDecoder('utf-16le').decode(random))).toMatchObject({
    status: 409,
    json: { message: 'The first request with this Idempotency-Key succeeded; its answer was too large to be stored' },
  })
  expect((await ann.get(`${at}/issues`)).json).toHaveLength(3)
})
