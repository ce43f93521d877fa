import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { jobRows } from '../../../../test/jobs.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { ageImport, countImportAttempts, importsOf, importsWithUrl } from '../../../../test/tables/projects.ts'
import { eventually } from '../../../../test/waiting.ts'
import {
  type Client,
  freePort,
  git,
  type TestProject,
  temporaryFolder,
  test,
  unique,
  type World,
} from '../../../../test/world.ts'
import { mirror } from '../../../git/transfer/mirror.ts'
import type { Settings } from '../../../settings/settings.ts'
import { type OutboundUrl, readUrl } from '../../instance/outbound/url.ts'
import { projectRepositoryDir } from '../../projects/repositories/location.ts'
import { failStuckImports, importFromUrl } from './jobs.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

const create = (who: Client, import_url: string, more: object = {}) =>
  who.post('/projects', { path: unique('imported'), import_url, ...more })

const bring = async (world: World, projectId: number) =>
  importFromUrl.run({ projectId, storage: 'default' }, await contextFor(world, null))

const record = async (who: Client, id: number) => (await who.get(`/projects/${id}?statistics=true`)).json

/** A project of this instance, whose URL is always allowed. */
async function sourceOf(world: World): Promise<TestProject> {
  const source = await world.project()
  await using work = await temporaryFolder()
  await git(work.path, 'init', '-q', '-b', 'trunk')
  await git(work.path, 'commit', '-q', '--allow-empty', '-m', 'First')
  await git(work.path, 'tag', 'v1')
  await git(work.path, 'branch', 'zebra')
  await git(work.path, 'branch', 'main')
  await git(work.path, 'push', '-q', world.remote(source, world.root), 'trunk')
  await git(work.path, 'push', '-q', world.remote(source, world.root), 'zebra', 'main', 'v1')
  return source
}

const repositoryOf = async (world: World, id: number) =>
  projectRepositoryDir(await contextFor(world, null), { id, repository_storage: 'default' })

async function withSettings(world: World, settings: Partial<Settings>, work: () => Promise<unknown>): Promise<void> {
  const before = (await contextFor(world, null)).settings
  await world.settings(settings)
  try {
    await work()
  } finally {
    const names = Object.keys(settings) as (keyof Settings)[]
    await world.settings(Object.fromEntries(names.map((name) => [name, before[name]])))
  }
}

async function serve(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer(listener!)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('import of a project by URL', () => {
  test.for(['before', 'during'] as const)(
    'a user who is blocked %s the fetch imports nothing',
    async (when, { world }) => {
      const source = await sourceOf(world)
      const [ann, group] = [await world.user(), await world.group({ visibility: 'public' })]
      await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 40 })
      const block = () => world.root.post(`/users/${ann.id}/block`)
      const authorization = `Basic ${Buffer.from(`x:${world.root.token}`).toString('base64')}`
      // Gives what the source gives.
      const url = await serve(async (request, response) => {
        if (when === 'during') await block()
        const there = `${world.origin}${request.url!.replace('/x.git', `/${source.full_path}.git`)}`
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        const {
          host: _,
          'transfer-encoding': __,
          'content-length': ___,
          connection: ____,
          ...headers
        } = request.headers
        const answer = await fetch(there, {
          method: request.method!,
          headers: { ...(headers as Record<string, string>), authorization },
          ...(request.method === 'POST' && { body: Buffer.concat(chunks) }),
        })
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
        response.end(Buffer.from(await answer.arrayBuffer()))
      })
      await withSettings(world, { allow_local_requests_from_web_hooks_and_services: true }, async () => {
        const made = await create(ann, `${url}/x.git`, { namespace_id: group.id })
        expect(made.status, made.text).toBe(201)
        if (when === 'before') await block()
        await bring(world, made.json.id)
        expect((await world.root.get(`/projects/${made.json.id}/import`)).json).toMatchObject({
          import_status: 'failed',
          import_error: 'The importer is no longer allowed to change the project',
        })
        expect((await world.root.get(`/projects/${made.json.id}/repository/branches`)).json).toEqual([])
      })
    },
  )

  test('an imported project exists at once and gets branches, tags and default branch later', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const made = await create(ann, world.remote(source, world.root), { description: 'Copied' })
    expect(made).toMatchObject({
      status: 201,
      json: { import_status: 'scheduled', description: 'Copied', empty_repo: true },
    })
    const { id } = made.json
    expect((await ann.get(`/projects/${id}/repository/files/a.txt?ref=trunk`)).status).toBe(404)
    await bring(world, id)
    expect(await record(ann, id)).toMatchObject({
      import_status: 'finished',
      import_error: null,
      default_branch: 'trunk',
      statistics: { commit_count: 1 },
    })
    expect((await ann.get(`/projects/${id}/repository/commits`)).json).toHaveLength(1)
    const refs = (dir: string) => git(dir, 'for-each-ref', '--format=%(objectname) %(refname)')
    expect(await refs(await repositoryOf(world, id))).toBe(await refs(await repositoryOf(world, source.id)))
    await bring(world, id)
    expect(await eventsOf(world, { project: id, kind: 'project_imported' })).toHaveLength(1)
  })

  test('administrators import a project for another user', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const sent = { path: unique('imported'), import_url: world.remote(source, world.root) }
    const { json } = await world.root.post(`/projects/user/${ann.id}`, sent)
    await bring(world, json.id)
    expect(await record(ann, json.id)).toMatchObject({ import_status: 'finished', owner: { id: ann.id } })
  })

  test('an import uses the requested default branch if it exists', async ({ world }) => {
    const source = await sourceOf(world)
    for (const [requested, branch] of [
      ['zebra', 'zebra'],
      ['no-such', 'trunk'],
    ] as const) {
      const { id } = (await create(world.root, world.remote(source, world.root), { default_branch: requested })).json
      const [job] = await world.jobs(`import_from_url:${id}`)
      await importFromUrl.run(job!.payload, await contextFor(world, null))
      expect((await record(world.root, id)).default_branch).toBe(branch)
    }
  })

  test('an import of an empty repository is empty', async ({ world }) => {
    const made = await create(world.root, world.remote(await world.project(), world.root))
    await bring(world, made.json.id)
    expect(await record(world.root, made.json.id)).toMatchObject({ import_status: 'finished', empty_repo: true })
  })

  test('400 for import_url together with initialize_with_readme', async ({ world }) => {
    expect(await create(world.root, 'https://a.example/x.git', { initialize_with_readme: true })).toMatchObject({
      status: 400,
      json: { error: 'initialize_with_readme, import_url are mutually exclusive' },
    })
  })
})

describe('references whose names git accepts in a push only', () => {
  test('are left out, as pushes of them are refused and no request could delete them', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const from = await repositoryOf(world, source.id)
    for (const name of ['heads/-x', 'heads/HEAD', 'tags/-x', 'tags/HEAD', 'heads/a/-x'])
      await git(from, 'update-ref', `refs/${name}`, 'refs/heads/trunk')
    const { id } = (await create(ann, world.remote(source, world.root))).json
    await bring(world, id)
    const names = async (of: string) =>
      (await ann.get(`/projects/${id}/repository/${of}`)).json.map(({ name }: { name: string }) => name)
    expect(await names('branches')).toEqual(['a/-x', 'main', 'trunk', 'zebra'])
    expect(await names('tags')).toEqual(['v1'])
  })
})

describe('credentials of imports', () => {
  test('import credentials are encrypted, never shown, and deleted at the end', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const secret = world.root.token!
    const made = await create(ann, world.remote(source, world.root))
    expect(made.text).not.toContain(secret)
    const everything = async () =>
      JSON.stringify([await jobRows(world), await eventsOf(world, {}), await importsOf(world)])
    expect(await everything()).not.toContain(secret)
    expect(await importsWithUrl(world, made.json.id)).toHaveLength(1)
    await bring(world, made.json.id)
    expect(await importsOf(world, made.json.id)).toEqual([])
    expect(await git(await repositoryOf(world, made.json.id), 'config', '--list', '--local')).not.toContain(secret)
  })

  test('import status asks for missing credentials, and shows errors to maintainers only', async ({ world }) => {
    const source = await sourceOf(world)
    const ann = await world.user()
    const { id } = (await create(world.root, source.url)).json
    await world.root.post(`/projects/${id}/members`, { user_id: ann.id, access_level: 30 })
    const state = (who: Client) => who.get(`/projects/${id}/import`)
    expect(await state(ann)).toMatchObject({ status: 200, json: { id, import_status: 'scheduled' } })
    await bring(world, id)
    expect((await state(world.root)).json).toMatchObject({
      import_status: 'failed',
      import_error: 'The remote repository requires authentication: the URL has no credentials, or they were rejected.',
    })
    const shown = (await state(ann)).json
    expect(shown).toMatchObject({ import_status: 'failed' })
    expect(shown).not.toHaveProperty('import_error')
    expect((await state(await world.user())).status).toBe(404)
  })

  test('an import with wrong credentials fails with a reason that does not contain them', async ({ world }) => {
    const source = await sourceOf(world)
    const at = new URL(source.url)
    at.username = 'ann'
    at.password = 'wrong-password'
    const { id } = (await create(world.root, at.toString())).json
    await bring(world, id)
    const { import_status, import_error } = await record(world.root, id)
    expect(import_status).toBe('failed')
    expect(import_error).toBe(
      'The remote repository requires authentication: the URL has no credentials, or they were rejected.',
    )
    const place = await repositoryOf(world, id)
    const left = await readdir(dirname(place)).catch(() => [])
    expect(left.filter((name) => name.startsWith(`${id}.`))).toEqual([])
    // The project exists and accepts pushes.
    const commit = { branch: 'master', content: 'x', commit_message: 'x' }
    expect((await world.root.post(`/projects/${id}/repository/files/a.txt`, commit)).status).toBe(201)
  })
})

describe('blocked import URLs', () => {
  test.for([
    ['http://localhost/x.git', 'Requests to localhost are not allowed'],
    ['http://127.0.0.1:8081/x.git', 'Requests to localhost are not allowed'],
    ['http://2130706433:8081/x.git', 'Requests to localhost are not allowed'],
    ['http://127.0.0.2/x.git', 'Requests to loopback addresses are not allowed'],
    ['http://[::ffff:10.0.0.1]/x.git', 'Requests to the local network are not allowed'],
    ['git://192.168.1.1/x.git', 'Requests to the local network are not allowed'],
    ['http://169.254.169.254/latest', 'Requests to the link local network are not allowed'],
    ['file:///etc', 'Only allowed schemes are http, https, git'],
    ['ssh://git@a.example/x', 'Only allowed schemes are http, https, git'],
    ['http://8.8.8.8:22/x', 'Only allowed ports are 80, 443, and any over 1024'],
    ['http://-a@8.8.8.8/x', 'Username needs to start with an alphanumeric character'],
    ['no address', 'URI is invalid'],
  ] as const)('400 for an import from %s', async ([url, reason], { world }) => {
    expect(await create(world.root, url)).toMatchObject({
      status: 400,
      json: { message: { import_url: [`is blocked: ${reason}`] } },
    })
  })

  test('an import from a name that does not resolve is accepted and fails', async ({ world }) => {
    const { id } = (await create(world.root, 'http://no-such-host.invalid/x.git')).json
    await bring(world, id)
    expect(await record(world.root, id)).toMatchObject({
      import_status: 'failed',
      import_error: 'Could not resolve host: no-such-host.invalid',
    })
  })

  test('the import job checks the URL again', async ({ world }) => {
    let id = 0
    await withSettings(world, { allow_local_requests_from_web_hooks_and_services: true }, async () => {
      id = (await create(world.root, 'http://127.0.0.1:8081/x.git')).json.id
    })
    await bring(world, id)
    expect((await record(world.root, id)).import_error).toBe(
      'The address is blocked: Requests to localhost are not allowed',
    )
  })

  test('an import does not follow redirects', async ({ world }) => {
    const source = await sourceOf(world)
    let asked = 0
    const elsewhere = await serve((req, res) => {
      asked++
      res.writeHead(302, { location: `${world.origin}${req.url!.replace('/x', `/${source.full_path}`)}` }).end()
    })
    await withSettings(world, { outbound_local_requests_whitelist: ['127.0.0.1'] }, async () => {
      const { id } = (await create(world.root, `${elsewhere.replace('//', `//root:${world.root.token}@`)}/x.git`)).json
      await bring(world, id)
      const { import_status, import_error } = await record(world.root, id)
      expect([import_status, asked > 0]).toEqual(['failed', true])
      expect(import_error).not.toContain(world.root.token)
    })
  })

  test('an import fetches from the checked address, whatever the name resolves to later', async ({ world }) => {
    const source = await sourceOf(world)
    const ctx = await contextFor(world, null)
    await using folder = await temporaryFolder()
    const fetchAs = async (address: string) => {
      const dir = join(folder.path, `${unique('x')}.git`)
      await ctx.git.ensureRepository(dir, { defaultBranch: 'x' })
      const port = Number(new URL(source.url).port)
      const remote = {
        url: source.url.replace('127.0.0.1', 'no-such-host.invalid'),
        credentials: { username: 'root', password: world.root.token! },
        pinned: { host: 'no-such-host.invalid', port, address },
      }
      return mirror(ctx.git.open(dir), remote, { timeoutMs: 100_000, maxBytes: 1e9 })
    }
    expect(await fetchAs('127.0.0.1')).toMatchObject({ defaultBranch: 'trunk' })
    expect(await fetchAs('127.0.0.3')).toMatchObject({ failed: 'refused' })
  })

  // Each name resolves to 127.0.0.1 at the time of the fetch, without a DNS server.
  test.for([
    'http://localhost',
    'http://LOCALHOST',
    'http://localhost.',
    'http://some.localhost',
    'http://Some.LocalHost.',
    'git://localhost',
    'git://localhost.',
  ])('an import from %s uses the checked address', async (origin, { world }) => {
    const { scheme, host } = readUrl(`${origin}/x.git`, { schemes: ['http', 'git'] }) as OutboundUrl
    const contacted: string[] = []
    const port = await freePort()
    const listen = async (address: string) => {
      const server = createTcpServer((socket) => {
        contacted.push(address)
        socket.on('error', () => {}).destroy()
      })
      await new Promise<void>((resolve) => server.listen(port, address, resolve))
      stops.push(() => server.close())
    }
    await listen('127.0.0.1')
    await listen('127.0.0.2')
    const ctx = await contextFor(world, null)
    await using folder = await temporaryFolder()
    await ctx.git.ensureRepository(join(folder.path, 'x.git'), { defaultBranch: 'x' })
    const outcome = await mirror(
      ctx.git.open(join(folder.path, 'x.git')),
      { url: `${scheme}://${host}:${port}/x.git`, pinned: { host, port, address: '127.0.0.2' } },
      { timeoutMs: 100_000, maxBytes: 1e9 },
    )
    expect(outcome).toMatchObject({ failed: 'refused' })
    expect(new Set(contacted)).toEqual(new Set(['127.0.0.2']))
  })

  test('an import asks no other server named by the source', async ({ world }) => {
    let asked = 0
    const other = await serve((_req, res) => {
      asked++
      res.writeHead(404).end()
    })
    const oid = '1234567890123456789012345678901234567890'
    const answers: Record<string, string> = {
      '/x.git/info/refs': `${oid}\trefs/heads/main\n`,
      '/x.git/HEAD': 'ref: refs/heads/main\n',
      '/x.git/objects/info/http-alternates': `${other}/y.git/objects\n`,
      '/x.git/objects/info/alternates': `${other}/y.git/objects\n`,
    }
    const seen: string[] = []
    const server = await serve((req, res) => {
      const path = new URL(req.url!, 'http://x').pathname
      seen.push(path)
      const answer = answers[path]
      res.writeHead(answer === undefined ? 404 : 200).end(answer)
    })
    const ctx = await contextFor(world, null)
    await using folder = await temporaryFolder()
    await ctx.git.ensureRepository(join(folder.path, 'x.git'), { defaultBranch: 'x' })
    const repo = ctx.git.open(join(folder.path, 'x.git'))
    const outcome = await mirror(repo, { url: `${server}/x.git` }, { timeoutMs: 100_000, maxBytes: 1e9 })
    expect(outcome).toMatchObject({ failed: 'refused' })
    expect([seen.length > 0, asked]).toEqual([true, 0])
  })
})

describe('limits of imports', () => {
  test('an import larger than the limit fails and leaves the repository empty', async ({ world }) => {
    const source = await world.project()
    const content = randomBytes(3 * 1024 * 1024).toString('base64')
    const file = { branch: 'master', content, encoding: 'base64', commit_message: 'x' }
    expect((await world.root.post(`/projects/${source.id}/repository/files/big.bin`, file)).status).toBe(201)
    await withSettings(world, { max_import_size: 1 }, async () => {
      const { id } = (await create(world.root, world.remote(source, world.root))).json
      await bring(world, id)
      expect(await record(world.root, id)).toMatchObject({
        import_status: 'failed',
        import_error: 'The repository is larger than 1 MB.',
        empty_repo: true,
      })
    })
  })

  test('an import from a server that does not respond times out', async ({ world }) => {
    const silent = await serve(() => {})
    const ctx = await contextFor(world, null)
    await using folder = await temporaryFolder()
    const dir = join(folder.path, 'x.git')
    await ctx.git.ensureRepository(dir, { defaultBranch: 'x' })
    const answer = await mirror(ctx.git.open(dir), { url: `${silent}/x.git` }, { timeoutMs: 500, maxBytes: 1e9 })
    expect(answer).toMatchObject({ failed: 'too_slow' })
  })

  test('imports without progress fail after 15 hours', async ({ world }) => {
    const [old, young] = [
      (await create(world.root, 'http://no-such-host.invalid/x.git')).json.id,
      (await create(world.root, 'http://no-such-host.invalid/x.git')).json.id,
    ]
    await ageImport(world, old, '16 hours')
    await failStuckImports.run({}, await contextFor(world, null))
    expect(await record(world.root, old)).toMatchObject({
      import_status: 'failed',
      import_error: 'Import timed out. Import took longer than 54000 seconds',
    })
    expect((await record(world.root, young)).import_status).toBe('scheduled')
  })

  test('an import fails after five interrupted attempts', async ({ world }) => {
    const { id } = (await create(world.root, world.remote(await sourceOf(world), world.root))).json
    await countImportAttempts(world, id, 5)
    await bring(world, id)
    expect((await record(world.root, id)).import_error).toBe('The import was interrupted too often.')
  })
})

test('an import from git:// works', async ({ world }) => {
  const source = await sourceOf(world)
  const port = await freePort()
  const folder = await repositoryOf(world, source.id)
  const daemon: ChildProcess = spawn(
    join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-daemon'),
    ['--export-all', '--listen=127.0.0.1', `--port=${port}`, `--base-path=${dirname(folder)}`],
  )
  stops.push(async () => {
    daemon.kill()
    await once(daemon, 'exit')
  })
  await eventually(async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
  })
  await withSettings(world, { outbound_local_requests_whitelist: ['localhost'] }, async () => {
    const { id } = (await create(world.root, `git://localhost:${port}/${source.id}.git`)).json
    await bring(world, id)
    expect(await record(world.root, id)).toMatchObject({ import_status: 'finished', default_branch: 'trunk' })
  })
})
