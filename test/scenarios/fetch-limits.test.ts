import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { Client as Connection } from 'undici'
import { describe, expect } from 'vitest'
import { testEnv } from '../../src/git/testing.ts'
import { type StoredProject, storedProject } from '../../src/modules/repository/commits/testing.ts'
import { hasSsh, sshWords, withKey } from '../ssh.ts'
import { git, temporaryFolder, test, World } from '../world.ts'

const line = (words: string) => `${(words.length + 4).toString(16).padStart(4, '0')}${words}`

const processesOn = ({ repository }: StoredProject, subcommand: string): number =>
  execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    .split('\n')
    .filter((each) => each.includes(repository.gitDir) && each.includes(subcommand) && !/^Z/.test(each)).length

const fetchType = { 'content-type': 'application/x-git-upload-pack-request' }

/** A project with this number of commits on its main branch, each the tip of a branch of its own. */
async function projectWithRefs(world: World, count: number): Promise<StoredProject> {
  const project = await storedProject(world)
  const commits = Array.from(
    { length: count },
    (_, index) => `commit refs/heads/main\ncommitter Ann <ann@example.com> ${1_700_000_000 + index} +0000\ndata 0\n`,
  )
  execFileSync('git', ['fast-import', '--quiet'], {
    cwd: project.repository.gitDir,
    input: commits.join(''),
    env: testEnv,
  })
  const oids = project.repository.git('rev-list', '--reverse', 'main').split('\n')
  const refs = oids.map((oid, index) => `${oid} refs/heads/b${String(index).padStart(6, '0')}`)
  writeFileSync(
    join(project.repository.gitDir, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${refs.join('\n')}\n`,
  )
  return project
}

describe('fetches over HTTP', () => {
  test('a fetch of 100,000 branches works, and so does the next one that has them already', async ({ world }) => {
    const count = 100_000
    const project = await projectWithRefs(world, count)
    await using folder = await temporaryFolder()
    const remote = `${world.origin}/${project.full_path}.git`
    const clone = join(folder.path, 'clone.git')
    await git(folder.path, 'clone', '--quiet', '--mirror', remote, clone)
    expect((await git(clone, 'for-each-ref', '--format=x')).split('\n')).toHaveLength(count + 1)
    project.repository.commit({ a: 'more\n' }, { branch: 'more' })
    await git(clone, 'fetch', '--quiet', remote, '+refs/heads/*:refs/heads/*')
    expect(await git(clone, 'rev-parse', 'more')).toBe(project.repository.git('rev-parse', 'more'))
    await git(folder.path, 'clone', '--quiet', '--mirror', '--depth', '1', remote, join(folder.path, 'shallow.git'))
  })

  test('400 for a fetch of protocol 2 with the end of a response, which ends git by a signal', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    for (const body of [`0002${line('done')}`, `${line('command=fetch')}00020000`])
      expect(
        await world.anonymous.send('POST', `//${project.full_path}.git/git-upload-pack`, {
          headers: { ...fetchType, 'git-protocol': 'version=2' },
          body,
        }),
      ).toMatchObject({ status: 400, text: 'The fetch contains the end of a response\n' })
  })

  test.for([
    ['HTTP', {}],
    ['HTTP with protocol 2', { 'git-protocol': 'version=2' }],
  ] as const)('a fetch over %s with half a million wants is refused with the limit', async ([, headers], { world }) => {
    const project = await storedProject(world)
    const tip = project.repository.commit({ a: 'a\n' })
    const start = 'git-protocol' in headers ? `${line('command=fetch')}0001` : ''
    const body = `${start}${line(`want ${tip}\n`).repeat(500_001)}0000`
    const answer = await world.anonymous.send('POST', `//${project.full_path}.git/git-upload-pack`, {
      headers: { ...fetchType, ...headers },
      body,
    })
    expect(answer).toMatchObject({
      status: 413,
      text: "The fetch asks for too much: at most 500000 lines of the kind 'want'\n",
    })
    await expect.poll(() => processesOn(project, 'upload-pack')).toBe(0)
  })

  test.for([
    ['prefixes of refs', line(`ref-prefix ${'x'.repeat(60_000)}`), 'at most 16777216 bytes of other lines'],
    ['nonsense', line('x'.repeat(60_000)), undefined],
  ] as const)('a fetch whose small gzip body has 200 MB of %s is refused', async ([, words, message], { world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const start = `${line('command=ls-refs')}0001`
    const body = gzipSync(start + words.repeat(200_000_000 / words.length))
    expect(body.length).toBeLessThan(1024 * 1024)
    const answer = await world.anonymous.send('POST', `//${project.full_path}.git/git-upload-pack`, {
      headers: { ...fetchType, 'git-protocol': 'version=2', 'content-encoding': 'gzip' },
      body,
    })
    // Git itself stops at the first unknown word.
    if (message !== undefined) expect(answer.text).toBe(`The fetch asks for too much: ${message}\n`)
    await expect.poll(() => processesOn(project, 'upload-pack')).toBe(0)
    expect(await world.anonymous.get('//-/health')).toMatchObject({ status: 200 })
  })

  test('the connection of a refused fetch serves the next request at once, whatever its body would decompress to', async () => {
    await using world = await World.start({}, { httpLimits: { lateBody: { bytes: 64 * 1024 * 1024, ms: 100 } } })
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const words = line(`ref-prefix ${'x'.repeat(60_000)}`)
    const body = gzipSync(`${line('command=ls-refs')}0001${words.repeat(400_000_000 / words.length)}`)
    const client = new Connection(world.origin)
    let lost = 0
    client.on('disconnect', () => lost++)
    const headers = { ...fetchType, 'git-protocol': 'version=2', 'content-encoding': 'gzip' }
    const path = `/${project.full_path}.git/git-upload-pack`
    const refused = await client.request({ path, method: 'POST', headers, body })
    expect([refused.statusCode, await refused.body.text()]).toEqual([413, expect.stringContaining('asks for too much')])
    const next = await client.request({ path: '/-/liveness', method: 'GET' })
    expect([next.statusCode, await next.body.text()]).toEqual([200, expect.anything()])
    await sleep(300)
    expect(lost).toBe(0)
    await client.close()
  })

  test('a fetch with a filter that reads a file or walks all trees is refused', async ({ world }) => {
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n', sparse: 'a\n' })
    await using folder = await temporaryFolder()
    const remote = `${world.origin}/${project.full_path}.git`
    const clone = (filter: string) =>
      git(folder.path, 'clone', '--quiet', '--bare', `--filter=${filter}`, remote, join(folder.path, filter))
    for (const filter of ['blob:none', 'blob:limit=1k', 'tree:0', 'combine:blob:none+tree:2', 'object:type=commit'])
      await clone(filter)
    for (const filter of ['sparse:oid=main:sparse', 'tree:17', `combine:tree:1+sparse:oid=main:sparse`])
      await expect(clone(filter), filter).rejects.toThrow()
  })

  /** Sends the body of a fetch a byte at a time; resolves to the status, or to the code of the error. */
  async function statusOfSlow(url: string): Promise<number | string | undefined> {
    const sent = httpRequest(url, { method: 'POST', headers: { ...fetchType, 'transfer-encoding': 'chunked' } })
    sent.write('0fff')
    const trickle = setInterval(() => sent.write('x'), 50)
    const status = await new Promise<number | string | undefined>((resolve) => {
      sent.on('response', (response) => {
        response.resume().on('error', () => {})
        resolve(response.statusCode)
      })
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    })
    clearInterval(trickle)
    sent.destroy()
    return status
  }

  test('408 when the body of a fetch arrives too slowly, and its git process ends', async () => {
    await using world = await World.start({}, { httpLimits: { fetchPace: { graceMs: 500, bytesPerSecond: 1e6 } } })
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    // A client that writes at the moment of the close gets an error instead of the answer.
    await expect.poll(() => statusOfSlow(`${world.origin}/${project.full_path}.git/git-upload-pack`)).toBe(408)
    await expect.poll(() => processesOn(project, 'upload-pack')).toBe(0)
  })
})

describe.skipIf(!hasSsh)('fetches over SSH (needs OpenSSH)', () => {
  test('a fetch over SSH with half a million wants is refused with the limit', async ({ world }) => {
    const project = await storedProject(world)
    const tip = project.repository.commit({ a: 'a\n' })
    await using folder = await temporaryFolder()
    const user = await world.user()
    const key = await withKey(folder.path, user)
    const client = spawn('ssh', sshWords(world, key, `git-upload-pack '${project.full_path}.git'`))
    client.stdin.on('error', () => {})
    client.stdout.resume()
    client.stdin.end(`${line(`want ${tip} side-band-64k\n`)}${line(`want ${tip}\n`).repeat(500_001)}0000`)
    expect(await text(client.stderr)).toContain("The fetch asks for too much: at most 500000 lines of the kind 'want'")
    await expect.poll(() => processesOn(project, 'upload-pack')).toBe(0)
  })
})
