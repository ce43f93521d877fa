import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { rowsThatCouldHaveCredentials } from '../../../../test/tables/mirrors.ts'
import { eventually } from '../../../../test/waiting.ts'
import { freePort, git, temporaryFolder, test, unique } from '../../../../test/world.ts'
import { importFromUrl } from '../imports/jobs.ts'
import { commitTo, done, refsOf, repositoryOf, serve, sourceOf } from '../remotes/testing.ts'
import { mirrorOf, state, update } from './testing.ts'

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
      last_error: 'The remote repository requires authentication: the URL has no credentials, or they were rejected.',
      url: source.url.replace('//', '//*****:*****@'),
    })
    expect(JSON.stringify(await rowsThatCouldHaveCredentials(world, mirror.id))).not.toContain(secret)
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

  test('errors of imports and mirrors have no parameters of the URL, which may be tokens', async ({ world }) => {
    const [secret, other] = [unique('very-secret-word'), unique('another-secret')]
    await using source = await serve((_req, res) => {
      res.writeHead(404, { 'content-type': 'text/plain' }).end(`no entry for ${other} / 1+1`)
    })
    await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'] })
    const url = `${source.origin}/x.git?private_token=${secret}&key=${encodeURIComponent(`${other} / 1+1`)}`
    const imported = await done(world.root.post('/projects', { path: unique('imported'), import_url: url }))
    await importFromUrl.run({ projectId: imported.id, storage: 'default' }, await contextFor(world, null))
    const { id } = await done(world.root.post('/projects', { path: unique('mirror') }))
    await done(world.root.put(`/projects/${id}`, { mirror: true, import_url: url }))
    await update(world, { id })
    for (const error of [
      (await world.root.get(`/projects/${imported.id}/import`)).json.import_error,
      (await state(world.root, { id })).last_error,
    ]) {
      expect(error).toMatch(/no entry for \*{5}\n/)
      expect(error).toContain(`${source.origin}/x.git?*****`)
      expect(error).not.toContain(secret)
      expect(error).not.toContain(other)
    }
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
