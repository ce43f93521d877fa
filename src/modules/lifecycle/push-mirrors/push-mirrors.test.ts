import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { makePushesDue, minutesToNextPush, rowsThatCouldHaveCredentials } from '../../../../test/tables/mirrors.ts'
import { type Client, git, type TestProject, temporaryFolder, test, unique, World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { fetchObjects, listRemoteRefs, pushToRemote } from '../../../git/transfer/mirror.ts'
import { commitTo, done, proxyTo, refsOf, remoteBy, repositoryOf, serve, sourceOf } from '../remotes/testing.ts'
import { pushToMirror, retryPushMirrors, startPushMirrors } from './jobs.ts'
import { type Mirror, mirrored, mirrorTo, state } from './testing.ts'

describe('when push mirrors run', () => {
  test('a push starts one update of each enabled mirror, shared by pushes in quick succession', async ({ world }) => {
    const mirror = await mirrored(world)
    const { project } = mirror
    const disabled = await mirrorTo(world, project, 'https://203.0.114.1/a.git', { enabled: false })
    await world.takeJobs('push_to_mirror:%')
    await world.takeJobs(`start_push_mirrors:${project.id}`)
    await using work = await temporaryFolder()
    await git(work.path, 'clone', '-q', world.remote(project, world.root), '.')
    for (const round of [1, 2]) {
      await git(work.path, 'commit', '-q', '--allow-empty', '-m', `Round ${round}`)
      await git(work.path, 'push', '-q', 'origin', 'HEAD')
    }
    expect(await world.jobs(`start_push_mirrors:${project.id}`)).toHaveLength(1)
    for (const _ of [1, 2]) await startPushMirrors.run({ projectId: project.id }, await contextFor(world, null))
    expect(await world.jobs(`push_to_mirror:${mirror.id}`)).toMatchObject([{ is_delayed: true }])
    expect(await world.jobs(`push_to_mirror:${disabled.id}`)).toEqual([])
    expect((await state(world, mirror)).update_status).toBe('scheduled')
  })

  test('what a pull mirror fetches reaches the push mirrors of the project', async () => {
    await using world = await World.start()
    const [source, target] = [await sourceOf(world), await world.project()]
    await world.runJobs()
    const project = await done(world.root.post('/projects', { path: unique('mirror') }))
    await mirrorTo(world, project, world.remote(target, world.root))
    const import_url = world.remote(source, world.root)
    await done(world.root.put(`/projects/${project.id}`, { mirror: true, import_url }))
    const refs = await refsOf(world, source)
    await expect.poll(() => refsOf(world, target)).toEqual(refs)
  })

  test('a push to a project without mirrors queues nothing', async ({ world }) => {
    const project = await sourceOf(world)
    await commitTo(world, project)
    expect(await world.jobs(`start_push_mirrors:${project.id}`)).toEqual([])
  })

  test('a failed update is retried with growing delays, and not after 14 failures until the next push', async ({
    world,
  }) => {
    const mirror = await mirrorTo(world, await sourceOf(world), 'http://no-such-host.invalid/x.git')
    const delays = []
    for (let attempt = 1; attempt <= 14; attempt++) {
      await mirror.update()
      delays.push(await minutesToNextPush(world, mirror.id))
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 240, 240, 240, 240, 240, null])
    expect(await state(world, mirror)).toMatchObject({
      update_status: 'failed',
      last_error: 'Could not resolve host: no-such-host.invalid',
    })
    const stopped = { kind: 'push_mirror_stopped', payload: { push_mirror_id: mirror.id } }
    expect(await eventsOf(world, stopped)).toHaveLength(1)
  })

  test('due retries are queued once, and not those of archived projects', async ({ world }) => {
    const [one, two] = [await sourceOf(world), await sourceOf(world)]
    const url = 'http://no-such-host.invalid/x.git'
    const [mirror, archived] = [await mirrorTo(world, one, url), await mirrorTo(world, two, url)]
    await world.takeJobs('push_to_mirror:%')
    await world.archive(two)
    await makePushesDue(world, [mirror.id, archived.id])
    for (const _ of [1, 2]) await retryPushMirrors.run({}, await contextFor(world, null))
    expect(await world.jobs(`push_to_mirror:${mirror.id}`)).toHaveLength(1)
    expect(await world.jobs(`push_to_mirror:${archived.id}`)).toEqual([])
  })

  test('other mirrors of a project stay as they are when one is updated, fails, or cannot start', async ({ world }) => {
    const working = await mirrored(world)
    const failing = await mirrorTo(world, working.project, 'http://no-such-host.invalid/x.git')
    await failing.update()
    const failed = await state(world, failing)
    expect(failed.last_error).toEqual(expect.any(String))
    await working.update()
    const updated = await state(world, working)
    expect(updated).toMatchObject({ update_status: 'finished', last_error: null })
    expect(await state(world, failing)).toEqual(failed)
    await failing.update()
    expect(await state(world, working)).toEqual(updated)
    const [before, wait] = [await state(world, failing), await minutesToNextPush(world, failing.id)]
    await done(world.root.put(working.at, { enabled: false }))
    await working.update()
    expect(await state(world, failing)).toEqual(before)
    expect([wait, await minutesToNextPush(world, failing.id)]).toEqual([2, 2])
    expect(await minutesToNextPush(world, working.id)).toBeNull()
  })

  test('an update runs on request, but not of a disabled mirror', async ({ world }) => {
    const project = await sourceOf(world)
    const mirror = await mirrorTo(world, project, 'https://203.0.114.1/a.git', { enabled: false })
    expect(await world.root.post(`${mirror.at}/sync`)).toMatchObject({
      status: 400,
      json: { message: 'Cannot proceed with the push mirroring. Please verify your mirror configuration.' },
    })
    expect(await world.jobs(`push_to_mirror:${mirror.id}`)).toEqual([])
    await done(world.root.put(mirror.at, { enabled: true }))
    await world.takeJobs(`push_to_mirror:${mirror.id}`)
    expect((await world.root.post(`${mirror.at}/sync`)).status).toBe(204)
    expect(await world.jobs(`push_to_mirror:${mirror.id}`)).toHaveLength(1)
  })

  test('concurrent and interrupted updates of a mirror leave the target equal to the project', async ({ world }) => {
    const mirror = await mirrored(world)
    const { project, target } = mirror
    const broken = mirror.update((ctx) => ({
      ...ctx,
      transaction: () => Promise.reject(new Error('the process ended')),
    }))
    await expect(broken).rejects.toThrow('the process ended')
    expect((await state(world, mirror)).update_status).toBe('started')
    await commitTo(world, project)
    await Promise.all([mirror.update(), mirror.update()])
    await mirror.update()
    expect(await refsOf(world, target)).toEqual(await refsOf(world, project))
    expect((await state(world, mirror)).update_status).toBe('finished')
  })
})

describe('permissions of push mirrors', () => {
  const setUp = async (
    world: World,
  ): Promise<{ ann: Client; project: TestProject; target: TestProject; id: number }> => {
    const ann = await world.user()
    const [project, target] = [await sourceOf(world), await world.project()]
    await world.settings({ default_branch_protection: 0 })
    await done(world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 40 }))
    const sent = { url: world.remote(target, world.root), enabled: true }
    const { id } = await done(ann.post(`/projects/${project.id}/remote_mirrors`, sent))
    return { ann, project, target, id }
  }
  const update = async (world: World, projectId: number, mirrorId: number) =>
    pushToMirror.run({ projectId, mirrorId }, await contextFor(world, null))

  test('a mirror stops when the user who set it up is no longer a maintainer, until another one takes it over', async ({
    world,
  }) => {
    const { ann, project, target, id } = await setUp(world)
    const at = `/projects/${project.id}/remote_mirrors/${id}`
    await done(world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 30 }))
    expect((await ann.get(at)).status).toBe(403)
    await update(world, project.id, id)
    expect(await refsOf(world, target)).toEqual({})
    expect((await done(world.root.get(at))).last_error).toBe(
      'The user who set up the mirror is no longer allowed to do so.',
    )
    await done(world.root.put(at, { enabled: true }))
    await update(world, project.id, id)
    expect(await refsOf(world, target)).toEqual(await refsOf(world, project))
  })

  test('a mirror is disabled when the user who set it up is deleted', async ({ world }) => {
    const { ann, project, target, id } = await setUp(world)
    expect((await world.root.delete(`/users/${ann.id}`)).status).toBe(204)
    await update(world, project.id, id)
    expect(await refsOf(world, target)).toEqual({})
    expect(await done(world.root.get(`/projects/${project.id}/remote_mirrors/${id}`))).toMatchObject({
      enabled: false,
      last_error: 'The user who set up the mirror was deleted.',
    })
  })

  test('archived projects are not pushed, and their mirrors can be deleted', async ({ world }) => {
    const mirror = await mirrored(world)
    await world.archive(mirror.project)
    await mirror.update()
    expect(await refsOf(world, mirror.target)).toEqual({})
    expect((await world.root.put(mirror.at, { enabled: true })).status).toBe(403)
    expect((await world.root.delete(mirror.at)).status).toBe(204)
    await mirror.update()
  })

  test('what was pushed just before the project was archived is pushed to its mirrors once it is no longer archived', async ({
    world,
  }) => {
    const mirror = await mirrored(world)
    const { project, target } = mirror
    await mirror.update()
    await commitTo(world, project)
    await startPushMirrors.run({ projectId: project.id }, await contextFor(world, null))
    await world.archive(project)
    await mirror.update()
    await world.takeJobs(`push_to_mirror:${mirror.id}`)
    await done(world.root.post(`/projects/${project.id}/unarchive`))
    await retryPushMirrors.run({}, await contextFor(world, null))
    expect(await world.jobs(`push_to_mirror:${mirror.id}`)).toHaveLength(1)
    await mirror.update()
    expect(await refsOf(world, target)).toEqual(await refsOf(world, project))
  })

  test('without mirror_available only administrators set up mirrors', async ({ world }) => {
    const { ann, project, id } = await setUp(world)
    await world.settings({ mirror_available: false })
    const at = `/projects/${project.id}/remote_mirrors`
    expect((await ann.post(at, { url: 'https://203.0.114.1/a.git' })).status).toBe(403)
    expect((await ann.put(`${at}/${id}`, { enabled: false })).status).toBe(403)
    expect((await world.root.post(at, { url: 'https://203.0.114.1/a.git' })).status).toBe(201)
  })
})

describe('records and credentials of push mirrors', () => {
  test('a project has up to ten push mirrors, disabled by default, listed oldest first', async ({ world }) => {
    const project = await world.project()
    const at = `/projects/${project.id}/remote_mirrors`
    const made = await done(world.root.post(at, { url: 'https://ann:word@203.0.114.1/a.git?token=word' }))
    expect(made).toEqual({
      id: made.id,
      enabled: false,
      url: 'https://*****:*****@203.0.114.1/a.git?*****',
      only_protected_branches: false,
      keep_divergent_refs: false,
      update_status: 'none',
      last_error: null,
      last_update_at: null,
      last_update_started_at: null,
      last_successful_update_at: null,
    })
    for (let count = 2; count <= 10; count++) await done(world.root.post(at, { url: 'https://203.0.114.1/b.git' }))
    expect(await world.root.post(at, { url: 'https://203.0.114.1/b.git' })).toMatchObject({
      status: 400,
      json: { message: { base: ['Maximum number (10) of push mirrors exceeded'] } },
    })
    const listed = await done(world.root.get(at))
    expect([listed.length, listed[0]]).toEqual([10, made])
    const edited = await done(world.root.put(`${at}/${made.id}`, { keep_divergent_refs: true }))
    expect(edited).toEqual({ ...made, keep_divergent_refs: true })
    expect((await world.root.delete(`${at}/${made.id}`)).status).toBe(204)
    expect((await world.root.get(`${at}/${made.id}`)).status).toBe(404)
    const audited = await done(world.root.get(`/projects/${project.id}/audit_events?per_page=100`))
    expect(JSON.stringify(audited)).toContain('203.0.114.1')
    expect(JSON.stringify(audited)).not.toContain('word@')
  })

  test.for([
    ['http://127.0.0.1:8081/x.git', 'Requests to localhost are not allowed'],
    ['http://169.254.169.254/latest', 'Requests to the link local network are not allowed'],
    ['git://203.0.114.1/x.git', 'Only allowed schemes are http, https'],
    ['file:///etc', 'Only allowed schemes are http, https'],
    ['no address', 'URI is invalid'],
  ] as const)('400 for a push mirror to %s', async ([url, reason], { world }) => {
    const project = await world.project()
    expect(await world.root.post(`/projects/${project.id}/remote_mirrors`, { url })).toMatchObject({
      status: 400,
      json: { message: { url: [`is blocked: ${reason}`] } },
    })
  })

  test('the URL is checked again before each update, and redirects are not followed', async ({ world }) => {
    const [project, target] = [await sourceOf(world), await world.project()]
    let asked = 0
    await using elsewhere = await serve((req, res) => {
      asked++
      res.writeHead(302, { location: `${world.origin}${req.url!.replace('/x', `/${target.full_path}`)}` }).end()
    })
    await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'] })
    const url = `${elsewhere.origin.replace('//', `//root:${world.root.token}@`)}/x.git`
    const mirror = await mirrorTo(world, project, url)
    await mirror.update()
    expect([asked > 0, (await state(world, mirror)).update_status]).toEqual([true, 'failed'])
    expect(await refsOf(world, target)).toEqual({})
    await world.settings({ outbound_local_requests_whitelist: [] })
    await mirror.update()
    expect((await state(world, mirror)).last_error).toBe(
      'The address is blocked: Requests to localhost are not allowed',
    )
  })

  test.for([
    ['the mirror is deleted', (world: World, at: string) => world.root.delete(at), []],
    ['the mirror is disabled', (world: World, at: string) => done(world.root.put(at, { enabled: false })), []],
    [
      'the project is archived',
      (world: World, at: string) => done(world.root.post(at.replace(/remote_mirrors.*/, 'archive'))),
      [],
    ],
    [
      'the mirror is limited to protected branches',
      (world: World, at: string) => done(world.root.put(at, { only_protected_branches: true })),
      ['refs/heads/main', 'refs/tags/v1'],
    ],
  ] as const)('what a mirror gets if %s while the target lists its branches', async ([, happens, gets], { world }) => {
    const [project, target] = [await sourceOf(world), await world.project()]
    await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'], default_branch_protection: 0 })
    await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'main' })
    let mirror: Mirror | undefined
    let lists = 0
    await using proxy = await proxyTo(world, async ({ url }) => {
      if (url.includes('git-upload-pack') && lists++ === 0) await happens(world, mirror!.at)
    })
    mirror = await mirrorTo(world, project, remoteBy(world, proxy, target))
    await mirror.update()
    expect([lists > 0, Object.keys(await refsOf(world, target))]).toEqual([true, gets])
  })

  test('listing, fetch and push end at the timeout when the remote does not respond', async ({ world }) => {
    await using silent = await serve(() => {})
    const project = await sourceOf(world)
    const repo = (await contextFor(world, null)).git.open(await repositoryOf(world, project.id))
    const name = 'refs/heads/main' as RefName
    const to = (await refsOf(world, project))[name] as Oid
    const [remote, limits] = [{ url: `${silent.origin}/x.git` }, { timeoutMs: 500, maxBytes: 1e9 }]
    const outcomes = [
      await listRemoteRefs(repo, remote, limits),
      await fetchObjects(repo, remote, [name], limits),
      await pushToRemote(repo, remote, [{ name, to, force: false }], limits),
    ]
    expect(outcomes).toMatchObject([{ failed: 'too_slow' }, { failed: 'too_slow' }, { failed: 'too_slow' }])
  })

  test('credentials of a mirror are encrypted and in no record, event, argument or error', async ({ world }) => {
    const secret = unique('very-secret-word')
    const basic = Buffer.from(`ann:${secret}`).toString('base64')
    const commands: string[] = []
    await using target = await serve(async (_req, res) => {
      for (const id of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)))
        commands.push(await readFile(join('/proc', id, 'cmdline'), 'latin1').catch(() => ''))
      res.writeHead(500, { 'content-type': 'text/plain' }).end(`no entry for ann:${secret} with Basic ${basic}`)
    })
    await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'] })
    const project = await sourceOf(world)
    const mirror = await mirrorTo(world, project, `${target.origin.replace('//', `//ann:${secret}@`)}/x.git`)
    await mirror.update()
    const shown = await world.root.get(mirror.at)
    expect(shown.json).toMatchObject({
      update_status: 'failed',
      url: `${target.origin.replace('//', '//*****:*****@')}/x.git`,
    })
    expect(commands.some((command) => command.includes(`${target.origin.slice('http://'.length)}/x.git`))).toBe(true)
    const everything = JSON.stringify([shown.text, commands, await rowsThatCouldHaveCredentials(world, project.id)])
    expect(everything).not.toContain(secret)
    expect(everything).not.toContain(basic)
  })
})
