import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { type StoredProject, storedProject } from '../../src/modules/repository/commits/testing.ts'
import { git, temporaryFolder, test, World } from '../world.ts'

/** Git processes that work on this repository. Long-lived object readers, which all requests share, do not count. */
const processesOn = ({ repository }: StoredProject): string[] =>
  execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    .split('\n')
    .filter((line) => line.includes(repository.gitDir) && !/^Z/.test(line))
    .filter((line) => !/cat-file --batch|cat-file.*-z/.test(line))

/** Incompressible content, larger than the buffers of a connection: a client that does not read it blocks git. */
function addLargeFile({ repository }: StoredProject): void {
  const make = `oid=$(head -c ${8 * 1024 * 1024} /dev/urandom | git -c core.compression=0 hash-object -w --stdin)
    printf '100644 blob %s\\tlarge\\n' $oid | git mktree`
  const tree = execFileSync('sh', ['-c', make], { cwd: repository.gitDir }).toString().trim()
  repository.git('update-ref', 'refs/heads/main', repository.git('commit-tree', '-m', 'Large', tree))
}

/** Sends these bytes on a new connection, and closes it after this number of milliseconds. */
async function abandon(world: World, bytes: string, afterMs: number): Promise<void> {
  const socket = connect(Number(new URL(world.origin).port), '127.0.0.1')
  socket.on('error', () => {})
  await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  socket.write(bytes)
  await sleep(afterMs)
  socket.destroy()
}

/** Makes `count` abandoned requests, 64 at a time, closed after between 0 and 19 ms. */
async function abandonMany(world: World, bytes: string, count: number): Promise<void> {
  let sent = 0
  const client = async () => {
    while (sent < count) await abandon(world, bytes, sent++ % 20)
  }
  await Promise.all(Array.from({ length: 64 }, client))
}

const request = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`

/** A world in which anonymous clients may abandon as many requests as they like. */
const withoutLimit = () => World.start({}, { httpLimits: { abandoned: { burst: 1e9, perSecond: 1 } } })

describe('clients that close the connection', () => {
  const paths: Record<string, (project: StoredProject) => string> = {
    'an archive': ({ id }) => request(`/api/v4/projects/${id}/repository/archive.tar?sha=main`),
    'a raw file': ({ id }) => request(`/api/v4/projects/${id}/repository/files/large/raw?ref=main`),
    'the refs for a clone': ({ full_path }) => request(`/${full_path}.git/info/refs?service=git-upload-pack`),
    'many archives on one connection': ({ id }) =>
      request(`/api/v4/projects/${id}/repository/archive.tar?sha=main`).repeat(5),
    'a clone': ({ full_path, repository }) => {
      const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
      const body = `${line(`want ${repository.git('rev-parse', 'main')} side-band-64k\n`)}0000${line('done\n')}`
      return `POST /${full_path}.git/git-upload-pack HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-git-upload-pack-request\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    },
  }

  for (const [what, bytesOf] of Object.entries(paths))
    test(`no git process survives 300 abandoned requests for ${what}`, async () => {
      await using world = await withoutLimit()
      const project = await storedProject(world)
      addLargeFile(project)
      await abandonMany(world, bytesOf(project), 300)
      await expect.poll(() => processesOn(project), { interval: 100 }).toEqual([])
    })

  test('a clone completes while 2,000 archives of another project are requested and abandoned', async () => {
    await using world = await withoutLimit()
    const [flooded, other, user] = await Promise.all([storedProject(world), storedProject(world), world.user()])
    addLargeFile(flooded)
    other.repository.commit({ a: 'a\n' })
    await using folder = await temporaryFolder()
    let over = false
    const archive = request(`/api/v4/projects/${flooded.id}/repository/archive.tar?sha=main`)
    const flood = abandonMany(world, archive, 2_000).finally(() => {
      over = true
    })
    let clones = 0
    const remote = world.remote({ ...other, url: `${world.origin}/${other.full_path}.git` } as never, user)
    do await git(folder.path, 'clone', '--quiet', remote, join(folder.path, `clone-${clones++}`))
    while (!over)
    await flood
    expect(clones).toBeGreaterThan(0)
    await expect.poll(() => processesOn(flooded), { interval: 100 }).toEqual([])
  })

  test('429 for anonymous clients that abandoned too many requests, in any spelling of the path', async () => {
    await using world = await World.start({}, { httpLimits: { abandoned: { burst: 1, perSecond: 0.001 } } })
    const project = await storedProject(world)
    addLargeFile(project)
    await abandonMany(world, request(`/api/v4/projects/${project.id}/repository/archive.tar?sha=main`), 100)
    await expect.poll(async () => (await world.anonymous.get('/projects')).status).toBe(429)
    expect((await world.anonymous.get('//%61pi/v4/projects')).status).toBe(429)
  })

  for (const [shown, header, query] of [
    ['a malformed Authorization header', 'authorization: x\r\n', ''],
    ['an empty Private-Token header', 'private-token:\r\n', ''],
    ['a cookie', 'cookie: a=b\r\n', ''],
    ['an empty parameter private_token', '', '&private_token='],
  ] as const)
    test(`429 for clients that show ${shown}, which is no credential, and abandoned too many requests`, async () => {
      await using world = await World.start({}, { httpLimits: { abandoned: { burst: 1, perSecond: 0.001 } } })
      const project = await storedProject(world)
      addLargeFile(project)
      const archive = `/api/v4/projects/${project.id}/repository/archive.tar?sha=main${query}`
      await abandonMany(world, request(archive, header), 100)
      await expect.poll(async () => (await world.anonymous.get('/projects')).status).toBe(429)
      const [name, value] = header.trim().split(/: ?/)
      const headers: Record<string, string> = name === '' ? {} : { [name!]: value! }
      expect((await world.anonymous.get(`/projects?${query}`, { headers })).status).toBe(429)
      expect((await world.root.get('/projects')).status).toBe(200)
      const byParameter = `/projects?private_token=${world.root.token}`
      expect((await world.anonymous.get(byParameter)).status).toBe(200)
    })

  test('429 for anonymous clients of a network that abandoned 100 requests, while accounts are served', async () => {
    await using world = await World.start()
    const project = await storedProject(world)
    addLargeFile(project)
    const archive = `/projects/${project.id}/repository/archive.tar?sha=main`
    // Each second without abandoned requests allows a few more, so they go on during the assertions.
    let over = false
    const flood = (async () => {
      while (!over) await abandonMany(world, request(`/api/v4${archive}`), 100)
    })()
    await expect
      .poll(() => world.anonymous.get('/projects'))
      .toMatchObject({ status: 429, text: 'Retry later\n', headers: { connection: 'close' } })
    await expect
      .poll(async () => Number((await world.anonymous.get(archive)).headers['retry-after']))
      .toBeGreaterThan(0)
    expect(await world.root.head(archive)).toMatchObject({ status: 200 })
    const { full_path } = project
    const refs = `${world.origin}/${full_path}.git/info/refs?service=git-upload-pack`
    await expect.poll(async () => (await fetch(refs)).status).toBe(401)
    // Git sends its credentials only after a 401.
    const url = `${world.origin}/${full_path}.git`
    await expect(git('/', 'ls-remote', world.remote({ ...project, url } as never, world.root))).resolves.toBeDefined()
    over = true
    await flood
    await expect.poll(async () => (await world.anonymous.head(archive)).status, { interval: 500 }).toBe(200)
  })

  test('requests that are answered do not count as abandoned', async () => {
    await using world = await World.start({}, { httpLimits: { abandoned: { burst: 1, perSecond: 0.001 } } })
    for (let count = 0; count < 5; count++)
      expect(await world.anonymous.get('/projects')).toMatchObject({ status: 200 })
  })
})
