import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { jobRows } from '../../../../test/jobs.ts'
import { allAuditEvents, eventsOf } from '../../../../test/tables/events.ts'
import { makePullMirrorsDue, mirrorRows, pauseOf, pullMirrorOf } from '../../../../test/tables/mirrors.ts'
import { wholeProjectRow } from '../../../../test/tables/projects.ts'
import { largeFilesOf, movedRefs, pushesTo } from '../../../../test/tables/pushes.ts'
import { eventually } from '../../../../test/waiting.ts'
import {
  type Client,
  freePort,
  git,
  type TestProject,
  temporaryFolder,
  test,
  unique,
  World,
} from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { importFromUrl } from '../imports/jobs.ts'
import { commitTo, done, refsOf, repositoryOf, serve, sourceOf } from '../remotes/testing.ts'
import { schedulePullMirrors, updatePullMirror } from './jobs.ts'

const update = async (world: World, { id }: { id: number }, change: (ctx: Ctx) => Ctx = (ctx) => ctx) =>
  updatePullMirror.run({ projectId: id }, change(await contextFor(world, null)))

/** A mirror of the source with its content, set up by a maintainer. */
async function mirrorOf(world: World, source: TestProject, who: Client, more: object = {}): Promise<{ id: number }> {
  const sent = { path: unique('mirror'), import_url: world.remote(source, world.root), mirror: true, ...more }
  const { id } = await done(who.post('/projects', sent))
  await importFromUrl.run({ projectId: id, storage: 'default' }, await contextFor(world, null))
  return { id }
}

const record = (who: Client, { id }: { id: number }) => done(who.get(`/projects/${id}`))
const state = (who: Client, { id }: { id: number }) => done(who.get(`/projects/${id}/mirror/pull`))
const eventsAbout = (world: World, { id }: { id: number }, kind: string) =>
  eventsOf(world, { project: id, kind }, 'actor_id', 'payload')

describe('a pull mirror', () => {
  test('a mirror follows commits, branches and tags of its source, as pushes of its user', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const mirror = await mirrorOf(world, source, ann)
    expect(await record(ann, mirror)).toMatchObject({
      import_status: 'finished',
      default_branch: 'main',
      mirror: true,
      mirror_user_id: ann.id,
      mirror_trigger_builds: false,
      only_mirror_protected_branches: false,
      mirror_overwrites_diverged_branches: false,
    })
    await commitTo(world, source)
    await commitTo(world, source, 'new', 'main')
    await done(world.root.post(`/projects/${source.id}/repository/tags?tag_name=v2&ref=new&message=Second`))
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual(await refsOf(world, source))
    const pushes = await eventsAbout(world, mirror, 'pushed')
    expect(pushes).toMatchObject([{ actor_id: ann.id, payload: { ref_count: 3, default_branch_moved: true } }])
    expect((await done(ann.get(`/projects/${mirror.id}/events?action=pushed`))).length).toBeGreaterThan(0)
    expect(await git(await repositoryOf(world, mirror.id), 'fsck', '--full', '--no-dangling')).toBe('')
    await update(world, mirror)
    expect(await eventsAbout(world, mirror, 'pushed')).toHaveLength(1)
    expect(await state(ann, mirror)).toMatchObject({ update_status: 'finished', last_error: null })
  })

  test('an empty project becomes a mirror by an edit, and gets the default branch of the source', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    await commitTo(world, source, 'master', 'main')
    const project = await done(ann.post('/projects', { path: unique('mirror') }))
    const sent = { mirror: true, import_url: world.remote(source, world.root), mirror_trigger_builds: true }
    expect(await done(ann.put(`/projects/${project.id}`, sent))).toMatchObject({
      mirror: true,
      mirror_user_id: ann.id,
      mirror_trigger_builds: true,
    })
    expect(await world.jobs(`update_pull_mirror:${project.id}`)).toHaveLength(1)
    await update(world, project)
    expect(await refsOf(world, project)).toEqual(await refsOf(world, source))
    expect(await record(ann, project)).toMatchObject({ default_branch: 'main', import_status: 'finished' })
  })

  test('a project that is no longer a mirror stays, and its URL is deleted with the credentials', async ({ world }) => {
    const ann = await world.user()
    const mirror = await mirrorOf(world, await sourceOf(world), ann)
    const edited = await done(ann.put(`/projects/${mirror.id}`, { mirror: false }))
    expect(edited.mirror).toBe(false)
    expect(edited).not.toHaveProperty('mirror_user_id')
    expect(await pullMirrorOf(world, mirror.id)).toEqual([])
    expect((await ann.get(`/projects/${mirror.id}/mirror/pull`)).status).toBe(400)
    expect(await ann.put(`/projects/${mirror.id}`, { mirror: true })).toMatchObject({
      status: 400,
      json: { message: { import_url: ["can't be blank"] } },
    })
    await update(world, mirror)
  })

  test('400 for a mirror without a source, and for a source of a project that is no mirror', async ({ world }) => {
    const ann = await world.user()
    expect(await ann.post('/projects', { path: unique('mirror'), mirror: true })).toMatchObject({
      status: 400,
      json: { message: { import_url: ["can't be blank"] } },
    })
    const { id } = await done(ann.post('/projects', { path: unique('mirror') }))
    expect(await ann.put(`/projects/${id}`, { import_url: 'https://203.0.114.1/a.git' })).toMatchObject({
      status: 400,
      json: { message: { import_url: ['requires a mirror'] } },
    })
  })

  test('updates have the push option ci.skip unless the mirror triggers builds', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    await commitTo(world, source)
    await update(world, mirror)
    await done(world.root.put(`/projects/${mirror.id}`, { mirror_trigger_builds: true }))
    await commitTo(world, source)
    await update(world, mirror)
    const pushes = await pushesTo(world, mirror.id, 'options')
    expect(pushes).toEqual([{ options: ['ci.skip'] }, { options: [] }])
  })
})

test('a mirror gets pointers to large files, and not the files', async ({ world }) => {
  const source = await sourceOf(world)
  const mirror = await mirrorOf(world, source, world.root)
  const oid = createHash('sha256').update(unique('large')).digest('hex')
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 9\n`
  const file = { branch: 'main', content: pointer, commit_message: 'x' }
  await done(world.root.post(`/projects/${source.id}/repository/files/large.bin`, file))
  await update(world, mirror)
  expect(await refsOf(world, mirror)).toEqual(await refsOf(world, source))
  expect(await largeFilesOf(world, mirror.id)).toEqual([])
  expect((await state(world.root, mirror)).last_error).toBe(null)
})

describe('differences between a mirror and its source', () => {
  test('diverged branches and moved tags stay, and a diverged default branch is reported', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    const own = await commitTo(world, mirror, 'zebra')
    await commitTo(world, source, 'zebra')
    await commitTo(world, source)
    await done(world.root.send('DELETE', `/projects/${source.id}/repository/tags/v1`).then((a) => ({ ...a, json: {} })))
    await done(world.root.post(`/projects/${source.id}/repository/tags?tag_name=v1&ref=main`))
    const before = await refsOf(world, mirror)
    await update(world, mirror)
    const after = await refsOf(world, mirror)
    expect(after).toMatchObject({ 'refs/heads/zebra': own, 'refs/tags/v1': before['refs/tags/v1'] })
    expect(after['refs/heads/main']).toBe((await refsOf(world, source))['refs/heads/main'])
    expect(await record(world.root, mirror)).toMatchObject({ import_status: 'finished', import_error: null })
    await commitTo(world, mirror)
    await commitTo(world, source)
    await update(world, mirror)
    expect(await record(world.root, mirror)).toMatchObject({
      import_status: 'failed',
      import_error:
        'The default branch (main) has diverged from its upstream counterpart and could not be updated automatically.',
    })
  })

  test('diverged branches and tags are overwritten if the mirror is set up so', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root, { mirror_overwrites_diverged_branches: true })
    await commitTo(world, mirror, 'zebra')
    await commitTo(world, source, 'zebra')
    await world.root.delete(`/projects/${source.id}/repository/tags/v1`)
    await done(world.root.post(`/projects/${source.id}/repository/tags?tag_name=v1&ref=zebra`))
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual(await refsOf(world, source))
  })

  test('branches and tags that the source deletes stay', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root, { mirror_overwrites_diverged_branches: true })
    const before = await refsOf(world, mirror)
    await world.root.delete(`/projects/${source.id}/repository/branches/zebra`)
    await world.root.delete(`/projects/${source.id}/repository/tags/v1`)
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual(before)
  })

  test('only protected branches and tags are updated if the mirror is set up so', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root, { only_mirror_protected_branches: true })
    const before = await refsOf(world, mirror)
    const main = await commitTo(world, source)
    await commitTo(world, source, 'zebra')
    await commitTo(world, source, 'new', 'main')
    await done(world.root.post(`/projects/${source.id}/repository/tags?tag_name=v2&ref=main`))
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual({ ...before, 'refs/heads/main': main, 'refs/tags/v2': main })
  })

  test('refs that the push rules refuse stay and are named, and the others are updated', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    const closed = { name: 'zebra', push_access_level: 0, merge_access_level: 0 }
    await done(world.root.post(`/projects/${mirror.id}/protected_branches`, closed))
    const before = await refsOf(world, mirror)
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await commitTo(world, source, name, 'main')
    await commitTo(world, source, 'zebra')
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual({
      ...(await refsOf(world, source)),
      'refs/heads/zebra': before['refs/heads/zebra'],
    })
    expect((await state(world.root, mirror)).last_error).toBe(
      'Some references were not updated:\nrefs/heads/zebra: You are not allowed to push code to protected branches on this project.',
    )
  })
})

describe('the user of a pull mirror', () => {
  test('only administrators name another user, and a new source has the rights of the user who enters it', async ({
    world,
  }) => {
    const [ann, bob, source] = [await world.user(), await world.user(), await sourceOf(world)]
    const mirror = await mirrorOf(world, source, ann)
    await done(ann.post(`/projects/${mirror.id}/members`, { user_id: bob.id, access_level: 40 }))
    const put = (who: Client, sent: object) => who.put(`/projects/${mirror.id}`, sent)
    expect(await put(ann, { mirror_user_id: bob.id })).toMatchObject({
      status: 400,
      json: { message: { mirror_user_id: ['is invalid'] } },
    })
    expect((await done(put(bob, { mirror: true }))).mirror_user_id).toBe(ann.id)
    expect((await done(put(bob, { import_url: world.remote(source, world.root) }))).mirror_user_id).toBe(bob.id)
    expect((await done(put(world.root, { mirror_user_id: ann.id }))).mirror_user_id).toBe(ann.id)
    expect((await put(world.root, { mirror_user_id: 999_999_999 })).status).toBe(400)
  })

  test('a mirror stops when its user may no longer push, and continues when the user may again', async ({ world }) => {
    const ann = await world.user()
    const source = await sourceOf(world)
    const project = await world.project({ members: [[ann, 'maintainer']] })
    await done(ann.put(`/projects/${project.id}`, { mirror: true, import_url: world.remote(source, world.root) }))
    await done(world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 20 }))
    await update(world, project)
    expect(await refsOf(world, project)).toEqual({})
    expect((await record(world.root, project)).import_error).toBe(
      'The user of the mirror is not allowed to push to this project.',
    )
    await done(world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 40 }))
    await update(world, project)
    expect(await refsOf(world, project)).toEqual(await refsOf(world, source))
    await done(world.root.post(`/users/${ann.id}/block`))
    await commitTo(world, source)
    await update(world, project)
    expect((await record(world.root, project)).import_error).toBe('The user of the mirror was deleted or is blocked.')
  })

  test.for([
    ['its user is blocked', (world: World, user: Client) => done(world.root.post(`/users/${user.id}/block`))],
    [
      'the mirror ends',
      (world: World, _user: Client, id: number) => done(world.root.put(`/projects/${id}`, { mirror: false })),
    ],
    [
      'the project is archived',
      (world: World, _user: Client, id: number) => done(world.root.post(`/projects/${id}/archive`)),
    ],
  ] as const)('an update moves nothing if %s while it fetches', async ([, happens], { world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const project = await world.project({ members: [[ann, 'maintainer']] })
    let fetches = 0
    await using proxy = await serve(async (req, res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      if (req.method === 'POST' && Buffer.concat(chunks).includes('command=fetch') && fetches++ === 0)
        await happens(world, ann, project.id)
      const {
        authorization,
        'content-type': type,
        'git-protocol': protocol,
        'content-encoding': encoding,
      } = req.headers
      const answer = await fetch(world.origin + req.url!, {
        method: req.method!,
        headers: Object.fromEntries(
          Object.entries({
            authorization,
            'content-type': type,
            'git-protocol': protocol as string,
            'content-encoding': encoding,
          }).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
        ),
        ...(req.method === 'POST' && { body: Buffer.concat(chunks) }),
      })
      res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
      res.end(Buffer.from(await answer.arrayBuffer()))
    })
    await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'] })
    const import_url = world.remote(source, world.root).replace(/@[^/]+/, `@${proxy.origin.slice('http://'.length)}`)
    await done(ann.put(`/projects/${project.id}`, { mirror: true, import_url }))
    await update(world, project)
    expect(fetches).toBeGreaterThan(0)
    expect(await refsOf(world, project)).toEqual({})
  })

  test('a mirror stops when its user is deleted', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const project = await world.project({ members: [[ann, 'maintainer']] })
    await done(ann.put(`/projects/${project.id}`, { mirror: true, import_url: world.remote(source, world.root) }))
    expect((await world.root.delete(`/users/${ann.id}`)).status).toBe(204)
    expect(await record(world.root, project)).toMatchObject({
      mirror: true,
      mirror_user_id: null,
      import_status: 'failed',
      import_error: 'The user of the mirror was deleted.',
    })
    expect(await state(world.root, project)).toMatchObject({ next_update_at: null, update_status: 'failed' })
    await update(world, project)
    expect(await refsOf(world, project)).toEqual({})
  })

  test('maintainers see and update a mirror; archived projects are not updated', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const mirror = await mirrorOf(world, source, world.root)
    const at = `/projects/${mirror.id}/mirror/pull`
    await done(world.root.post(`/projects/${mirror.id}/members`, { user_id: ann.id, access_level: 30 }))
    expect([(await ann.get(at)).status, (await ann.post(at)).status]).toEqual([403, 403])
    await done(world.root.put(`/projects/${mirror.id}/members/${ann.id}`, { access_level: 40 }))
    expect(await ann.post(at)).toMatchObject({ status: 200, json: { id: mirror.id, update_status: 'scheduled' } })
    await commitTo(world, source)
    const before = await refsOf(world, mirror)
    await done(world.root.post(`/projects/${mirror.id}/archive`))
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual(before)
    expect([(await ann.get(at)).status, (await ann.post(at)).status]).toEqual([200, 403])
    expect((await ann.put(`/projects/${mirror.id}`, { mirror: true })).status).toBe(403)
    expect((await ann.put(`/projects/${mirror.id}`, { mirror: false })).status).toBe(200)
  })
})

describe('credentials of pull mirrors', () => {
  test('credentials of a mirror are encrypted and shown nowhere', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const secret = unique('very-secret-word')
    const at = new URL(source.url)
    at.username = 'ann'
    at.password = secret
    const mirror = await mirrorOf(world, source, ann)
    expect((await ann.put(`/projects/${mirror.id}`, { import_url: at.toString() })).text).not.toContain(secret)
    await update(world, mirror)
    expect(await state(ann, mirror)).toMatchObject({
      update_status: 'failed',
      last_error: 'The other side asks for credentials, and the address has none or others.',
      url: source.url.replace('//', '//*****:*****@'),
    })
    const everything = JSON.stringify([
      await jobRows(world),
      await eventsOf(world, {}),
      await allAuditEvents(world),
      await mirrorRows(world, 'pull_mirrors'),
      await wholeProjectRow(world, mirror.id),
    ])
    expect(everything).not.toContain(secret)
    expect(await git(await repositoryOf(world, mirror.id), 'config', '--list', '--local')).not.toContain(secret)
  })

  test('an error does not repeat the credentials that the source sends back, and no argument has them', async ({
    world,
  }) => {
    const secret = unique('very-secret-word')
    const basic = Buffer.from(`ann:${secret}`).toString('base64')
    const commands: string[] = []
    await using source = await serve(async (_req, res) => {
      for (const id of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)))
        commands.push(await readFile(join('/proc', id, 'cmdline'), 'latin1').catch(() => ''))
      res.writeHead(500, { 'content-type': 'text/plain' }).end(`no entry for ann:${secret} with Basic ${basic}`)
    })
    await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'] })
    const { id } = await done(world.root.post('/projects', { path: unique('mirror') }))
    const import_url = `${source.origin.replace('//', `//ann:${secret}@`)}/x.git`
    await done(world.root.put(`/projects/${id}`, { mirror: true, import_url }))
    await update(world, { id })
    const { last_error } = await state(world.root, { id })
    expect(last_error).toMatch(/error|HTTP 500/)
    expect(last_error).not.toContain(secret)
    expect(last_error).not.toContain(basic)
    expect(commands.some((command) => command.includes(`${source.origin.slice('http://'.length)}/x.git`))).toBe(true)
    expect(commands.filter((command) => command.includes(secret) || command.includes(basic))).toEqual([])
  })
})

describe('blocked and useless sources of mirrors', () => {
  test('400 for a blocked URL, which is checked again before each update', async ({ world }) => {
    const { id } = await done(world.root.post('/projects', { path: unique('mirror') }))
    const sent = { mirror: true, import_url: 'http://127.0.0.1:8081/x.git' }
    expect(await world.root.put(`/projects/${id}`, sent)).toMatchObject({
      status: 400,
      json: { message: { import_url: ['is blocked: Requests to localhost are not allowed'] } },
    })
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await done(world.root.put(`/projects/${id}`, sent))
    await world.settings({ allow_local_requests_from_web_hooks_and_services: false })
    await update(world, { id })
    expect((await state(world.root, { id })).last_error).toBe(
      'The address is blocked: Requests to localhost are not allowed',
    )
  })

  test('a mirror follows no redirect', async ({ world }) => {
    const source = await sourceOf(world)
    let asked = 0
    await using elsewhere = await serve((req, res) => {
      asked++
      res.writeHead(302, { location: `${world.origin}${req.url!.replace('/x', `/${source.full_path}`)}` }).end()
    })
    await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'] })
    const { id } = await done(world.root.post('/projects', { path: unique('mirror') }))
    const import_url = `${elsewhere.origin.replace('//', `//root:${world.root.token}@`)}/x.git`
    await done(world.root.put(`/projects/${id}`, { mirror: true, import_url }))
    await update(world, { id })
    expect([asked > 0, (await state(world.root, { id })).update_status]).toEqual([true, 'failed'])
    expect(await refsOf(world, { id })).toEqual({})
  })

  test('an update larger than the limit leaves no object in the repository', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    const content = Buffer.from(Array.from({ length: 3 * 1024 * 1024 }, () => Math.random() * 256)).toString('base64')
    const file = { branch: 'main', content, encoding: 'base64', commit_message: 'x' }
    await done(world.root.post(`/projects/${source.id}/repository/files/big.bin`, file))
    const dir = await repositoryOf(world, mirror.id)
    const before = await git(dir, 'count-objects', '-v')
    await world.settings({ max_import_size: 1 })
    await update(world, mirror)
    expect((await state(world.root, mirror)).last_error).toBe('The repository is larger than 1 MB.')
    expect(await git(dir, 'count-objects', '-v')).toBe(before)
    expect((await readdir(join(dir, 'objects'))).filter((name) => name.startsWith('tmp_'))).toEqual([])
  })
})

test('a mirror of a source that lacks commits reports that and moves nothing', async ({ world }) => {
  await using folder = await temporaryFolder()
  const source = await sourceOf(world)
  await commitTo(world, source)
  await git(folder.path, 'clone', '-q', '--mirror', '--depth=1', world.remote(source, world.root), 'x.git')
  const port = await freePort()
  const daemon = spawn(join(await git(folder.path, '--exec-path'), 'git-daemon'), [
    ...['--export-all', '--listen=127.0.0.1', `--port=${port}`, `--base-path=${folder.path}`],
  ])
  try {
    await eventually(async () => {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      socket.destroy()
    })
    await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'] })
    const project = await done(world.root.post('/projects', { path: unique('mirror') }))
    const import_url = `git://127.0.0.1:${port}/x.git`
    await done(world.root.put(`/projects/${project.id}`, { mirror: true, import_url }))
    await update(world, project)
    expect((await state(world.root, project)).update_status).toBe('failed')
    expect(await refsOf(world, project)).toEqual({})
  } finally {
    daemon.kill()
    await once(daemon, 'exit')
  }
})

describe('interrupted and concurrent updates', () => {
  test('concurrent updates of a mirror push each change once', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    await commitTo(world, source)
    await commitTo(world, source, 'zebra')
    await Promise.all([update(world, mirror), update(world, mirror), update(world, mirror)])
    expect(await refsOf(world, mirror)).toEqual(await refsOf(world, source))
    const moved = (await movedRefs(world, mirror.id))
      .map(({ ref }) => ({ ref }))
      .sort((a, b) => (a.ref < b.ref ? -1 : 1))
    expect(moved).toEqual([{ ref: 'refs/heads/main' }, { ref: 'refs/heads/zebra' }])
  })

  test('an update that is interrupted after it moved refs completes on the next run', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    await commitTo(world, source)
    // No transaction commits any more: neither the effects of the push nor the result of the update.
    const broken = update(world, mirror, (ctx) => ({
      ...ctx,
      transaction: () => Promise.reject(new Error('the process ended')),
    }))
    await expect(broken).rejects.toThrow('the process ended')
    expect((await state(world.root, mirror)).update_status).toBe('started')
    expect(await eventsAbout(world, mirror, 'pushed')).toEqual([])
    await world.recover()
    await update(world, mirror)
    expect(await eventsAbout(world, mirror, 'pushed')).toHaveLength(1)
    expect(await refsOf(world, mirror)).toEqual(await refsOf(world, source))
    expect((await state(world.root, mirror)).update_status).toBe('finished')
  })
})

describe('the schedule of pull mirrors', () => {
  /** Minutes until the next update. */
  const minutesLeft = async (world: World, { id }: { id: number }) => (await pauseOf(world, { pullOf: id }))[0].minutes

  async function failing(world: World): Promise<{ id: number }> {
    const { id } = await done(world.root.post('/projects', { path: unique('mirror') }))
    const import_url = 'http://no-such-host.invalid/x.git'
    await done(world.root.put(`/projects/${id}`, { mirror: true, import_url }))
    return { id }
  }

  test('updates follow every 30 minutes, less often after failures, and at least after mirror_max_delay', async ({
    world,
  }) => {
    const mirror = await mirrorOf(world, await sourceOf(world), world.root)
    await update(world, mirror)
    expect(await minutesLeft(world, mirror)).toBe(30)
    const broken = await failing(world)
    const delays = []
    for (let attempt = 0; attempt < 5; attempt++) {
      await update(world, broken)
      delays.push(await minutesLeft(world, broken))
    }
    expect(delays).toEqual([60, 120, 240, 300, 300])
    await world.settings({ mirror_max_delay: 20 })
    await update(world, mirror)
    expect(await minutesLeft(world, mirror)).toBe(20)
  })

  test('a mirror stops after 14 failures in a row, until it is updated by request', async ({ world }) => {
    const mirror = await failing(world)
    for (let attempt = 1; attempt <= 13; attempt++) await update(world, mirror)
    expect((await state(world.root, mirror)).next_update_at).not.toBe(null)
    await update(world, mirror)
    expect(await state(world.root, mirror)).toMatchObject({
      update_status: 'failed',
      last_error: 'Could not resolve host: no-such-host.invalid',
      next_update_at: null,
    })
    expect(await eventsAbout(world, mirror, 'pull_mirror_stopped')).toHaveLength(1)
    expect((await record(world.root, mirror)).import_error).toBe('Could not resolve host: no-such-host.invalid')
    await done(world.root.post(`/projects/${mirror.id}/mirror/pull`))
    expect((await state(world.root, mirror)).next_update_at).not.toBe(null)
  })

  test('due updates are queued within mirror_max_capacity, and none below mirror_capacity_threshold', async () => {
    await using world = await World.start()
    const run = async () => schedulePullMirrors.run({}, await contextFor(world, null))
    const queued = async () => (await world.jobs('update_pull_mirror:%')).length
    const mirrors = [await failing(world), await failing(world), await failing(world), await failing(world)]
    await world.takeJobs('update_pull_mirror:%')
    await makePullMirrorsDue(world)
    await world.archive({ id: mirrors[0]!.id } as TestProject)
    await world.settings({ mirror_max_capacity: 2, mirror_capacity_threshold: 1 })
    await run()
    expect(await queued()).toBe(2)
    await run()
    expect(await queued()).toBe(2)
    await world.settings({ mirror_max_capacity: 3, mirror_capacity_threshold: 2 })
    await run()
    expect(await queued()).toBe(2)
    await world.settings({ mirror_max_capacity: 3, mirror_capacity_threshold: 1 })
    await run()
    expect(await queued()).toBe(3)
    expect(await world.jobs(`update_pull_mirror:${mirrors[0]!.id}`)).toEqual([])
  })
})

test('a plan without mirrors has neither their parameters nor their endpoints, and updates none', async () => {
  await using world = await World.start({ STITHY_PLAN: 'free' })
  const { id } = await done(world.root.post('/projects', { path: 'p', mirror: true }))
  expect((await world.root.get(`/projects/${id}/mirror/pull`)).status).toBe(404)
  expect(await record(world.root, { id })).not.toHaveProperty('mirror')
})
