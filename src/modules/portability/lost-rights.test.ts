import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../test/contexts.ts'
import { answerDuring } from '../../../test/during.ts'
import { waitingFor } from '../../../test/tables/instance.ts'
import { exportRequests } from '../../../test/tables/portability.ts'
import { lockProject } from '../../../test/tables/projects.ts'
import { waitMs } from '../../../test/waiting.ts'
import { type Client, test, unique, type World } from '../../../test/world.ts'
import type { BlobStore } from '../../blobs/blob-store.ts'
import { lockAccess } from '../namespaces/index.ts'
import { storedProject } from '../repository/commits/testing.ts'
import { exportArchive } from './exports/jobs.ts'
import { forgeOf, importOf, request } from './forges/testing.ts'
import { importGroupArchive } from './imports/group-jobs.ts'
import { groupExportOf, runImport, stagedArchive, upload } from './testing.ts'

/** A server of an archive, and receiver of uploads. `before` runs before it answers. */
async function remote(world: World, archive: Buffer, before: () => Promise<unknown>) {
  await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
  const received: Buffer[] = []
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET') received.push(await buffer(request))
    await before()
    response.end(archive)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive`,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

/** A context of the jobs process whose blob store does something before it stores. */
async function storingAfter(world: World, before: () => Promise<unknown>) {
  const ctx = await contextFor(world, null)
  const put: BlobStore['put'] = async (...given) => {
    await before()
    return ctx.blobs.put(...given)
  }
  const blobs = new Proxy(ctx.blobs, {
    get: (store, name) => {
      if (name === 'put') return put
      const value = Reflect.get(store, name)
      return typeof value === 'function' ? value.bind(store) : value
    },
  })
  return { ...ctx, blobs }
}

const stateOf = async (world: World, id: number) => (await world.root.get(`/projects/${id}/import`)).json

const issuesOf = async (world: World, id: number) => (await world.root.get(`/projects/${id}/issues?state=all`)).json

const demote = (world: World, { id }: Client) => world.root.put(`/users/${id}`, { admin: false })

/** Runs a job that waits for the lock of access behind the demotion of a member of a group. */
async function demotedBefore(
  world: World,
  { id }: Client,
  group: { readonly id: number },
  run: () => Promise<unknown>,
): Promise<void> {
  const waits = (many: number) =>
    expect.poll(() => waitingFor(world, 'advisory lock'), { timeout: waitMs }).toHaveLength(many)
  const sent = await world.db.transaction(async (tx) => {
    await lockAccess(tx)
    const demoted = world.root.put(`/groups/${group.id}/members/${id}`, { access_level: 10 })
    await waits(1)
    const ran = run()
    await waits(2)
    return { demoted, ran }
  })
  expect((await sent.demoted).status).toBe(200)
  await sent.ran
}

describe('imports whose importer loses the right while they run', () => {
  test.for([
    ['is blocked', (world: World, zoe: Client) => world.root.post(`/users/${zoe.id}/block`)],
    [
      'is no maintainer any more',
      (world: World, zoe: Client, at: string) => world.root.delete(`${at}/members/${zoe.id}`),
    ],
  ] as const)(
    'an importer who %s when the archive has been downloaded imports nothing',
    async ([, lose], { world }) => {
      const { archive } = await stagedArchive(world)
      const zoe = await world.user()
      const group = await world.group({ members: [[zoe, 'maintainer']] })
      let id = 0
      await using from = await remote(world, archive, async () => {
        await world.root.put(`/groups/${group.id}/members/${zoe.id}`, { access_level: 10 })
        await lose(world, zoe, `/projects/${id}`)
      })
      const made = await zoe.post('/projects/remote-import', {
        url: from.url,
        path: unique('remote'),
        namespace: group.full_path,
      })
      id = made.json.id
      await runImport(world, id)
      expect(await stateOf(world, id)).toMatchObject({
        import_status: 'failed',
        import_error: 'The importer is no longer allowed to change the project',
      })
      expect(await issuesOf(world, id)).toEqual([])
    },
  )

  test('an administrator who is none any more when the archive has been downloaded writes in the name of no one', async ({
    world,
  }) => {
    const { archive } = await stagedArchive(world)
    const admin = await world.user({ admin: true })
    await using from = await remote(world, archive, () => demote(world, admin))
    const { json } = await admin.post('/projects/remote-import', { url: from.url, path: unique('remote') })
    await runImport(world, json.id)
    expect(await stateOf(world, json.id)).toMatchObject({
      import_status: 'failed',
      import_error: 'The importer is no longer an administrator',
    })
    expect(await issuesOf(world, json.id)).toEqual([])
  })

  test('an importer from a forge who is blocked while it is read imports nothing', async ({ world }) => {
    await using forge = await forgeOf(world, 'github')
    const zoe = await world.user()
    const group = await world.group({ members: [[zoe, 'maintainer']] })
    forge.before = async (path) => {
      if (path.includes('/releases')) await world.root.post(`/users/${zoe.id}/block`)
    }
    const { id } = await importOf(world, zoe, forge, { target_namespace: group.full_path })
    expect(await stateOf(world, id)).toMatchObject({
      import_status: 'failed',
      import_error: 'The importer is no longer allowed to change the project',
    })
    expect(await issuesOf(world, id)).toEqual([])
  })

  test('an importer of a group who is blocked when its archive has been read imports nothing', async ({ world }) => {
    const source = await world.group()
    await world.root.post(`/groups/${source.id}/labels`, { name: 'bug', color: '#ff0000' })
    const picture = new FormData()
    picture.set('avatar', new Blob([Buffer.from('89504e470d0a1a0a00', 'hex')]), 'x.png')
    await world.root.send('PUT', `/groups/${source.id}`, { body: picture })
    const archive = await groupExportOf(world, source.id)
    const zoe = await world.user()
    const path = unique('imported')
    const made = await upload(zoe, archive, { path, name: path }, '/groups/import')
    expect(made.status, made.text).toBe(202)
    const { id } = (await world.root.get(`/groups/${path}`)).json
    const ctx = await storingAfter(world, () => world.root.post(`/users/${zoe.id}/block`))
    for (const { payload } of await world.takeJobs(`import_group_archive:${id}`))
      await importGroupArchive.run(payload, ctx)
    expect((await world.root.get(`/groups/${id}/labels`)).json).toEqual([])
  })
})

describe('imports whose importer loses the right while they wait for changes of access', () => {
  test('an importer of a group who is demoted meanwhile imports nothing', async ({ world }) => {
    const source = await world.group()
    await world.root.post(`/groups/${source.id}/labels`, { name: 'bug', color: '#ff0000' })
    const archive = await groupExportOf(world, source.id)
    const zoe = await world.user()
    const path = unique('imported')
    expect((await upload(zoe, archive, { path, name: path }, '/groups/import')).status).toBe(202)
    const { id } = (await world.root.get(`/groups/${path}`)).json
    await world.root.post(`/groups/${id}/members`, { user_id: world.root.id, access_level: 50 })
    const [job] = await world.takeJobs(`import_group_archive:${id}`)
    await demotedBefore(world, zoe, { id }, async () =>
      importGroupArchive.run(job!.payload, await contextFor(world, null)),
    )
    expect((await world.root.get(`/groups/${id}/labels`)).json).toEqual([])
  })

  test('an importer of a project who is demoted meanwhile imports nothing', async ({ world }) => {
    const { archive } = await stagedArchive(world)
    const zoe = await world.user()
    const group = await world.group({ members: [[zoe, 'maintainer']] })
    const made = await upload(zoe, archive, { path: unique('imported'), namespace: group.full_path })
    expect(made.status, made.text).toBe(201)
    // Who creates a project is a member of its own.
    await world.root.delete(`/projects/${made.json.id}/members/${zoe.id}`)
    await demotedBefore(world, zoe, group, () => runImport(world, made.json.id))
    expect(await stateOf(world, made.json.id)).toMatchObject({ import_status: 'failed' })
    expect(await issuesOf(world, made.json.id)).toEqual([])
  })
})

test('an import from a forge is not canceled by a maintainer who was removed while the request waited', async ({
  world,
}) => {
  await using forge = await forgeOf(world, 'github')
  const zoe = await world.user()
  const group = await world.group({ members: [[zoe, 'maintainer']] })
  const { json } = await request(zoe, forge, { target_namespace: group.full_path })
  await world.root.delete(`/projects/${json.id}/members/${zoe.id}`)
  const answer = await answerDuring(
    world,
    () => zoe.post('/import/github/cancel', { project_id: json.id }),
    () => world.root.delete(`/groups/${group.id}/members/${zoe.id}`),
    (tx) => lockProject(tx, json.id),
  )
  expect(answer.status).toBe(404)
  expect(await stateOf(world, json.id)).toMatchObject({ import_status: 'scheduled' })
})

describe('exports whose user loses the right while the archive is written', () => {
  test.for([
    ['a maintainer who is none any more', false],
    ['an administrator who is none any more', true],
  ] as const)('%s sends no archive to a URL', async ([, isAdministrator], { world }) => {
    const ann = await world.user({ admin: isAdministrator })
    const project = await storedProject(world, { visibility: 'private', members: [[ann, 'maintainer']] })
    project.repository.commit({ a: 'a\n' })
    await using to = await remote(world, Buffer.alloc(0), async () => {})
    expect((await ann.post(`/projects/${project.id}/export`, { upload: { url: to.url } })).status).toBe(202)
    const ctx = await storingAfter(world, () =>
      isAdministrator ? demote(world, ann) : world.root.delete(`/projects/${project.id}/members/${ann.id}`),
    )
    for (const { payload } of await world.takeJobs('export_archive:%')) await exportArchive.run(payload, ctx)
    expect(to.received).toEqual([])
    expect(await exportRequests(world, project.id)).toEqual([])
  })
})
