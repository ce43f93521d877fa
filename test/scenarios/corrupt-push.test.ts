import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, vi } from 'vitest'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { git, type TestProject, temporaryFolder, test, type World } from '../world.ts'

const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`
const nothing = '0'.repeat(40)

const large = 4 * 1024 * 1024

/** The request that pushes a commit with a file of this size to `main`. */
async function pushOf(folder: string, size = large): Promise<Buffer> {
  await git(folder, 'init', '-q', '-b', 'main')
  await writeFile(join(folder, 'large'), randomBytes(size))
  await git(folder, 'add', '.')
  await git(folder, 'commit', '-qm', 'Large')
  const tip = await git(folder, 'rev-parse', 'HEAD')
  const pack = execFileSync('git', ['-C', folder, 'pack-objects', '--revs', '--stdout', '-q'], {
    input: `${tip}\n`,
    maxBuffer: 64 * 1024 * 1024,
  })
  return Buffer.concat([
    Buffer.from(`${line(`${nothing} ${tip} refs/heads/main\0report-status side-band-64k\n`)}0000`),
    pack,
  ])
}

const basic = (world: World) => `Basic ${Buffer.from(`root:${world.root.token}`).toString('base64')}`

const post = (
  world: World,
  { full_path }: Pick<TestProject, 'full_path'>,
  service: string,
  body: Buffer,
  encoding = 'gzip',
) =>
  world.anonymous.send('POST', `///${full_path}.git/${service}`.slice(1), {
    headers: {
      authorization: basic(world),
      'content-type': `application/x-${service}-request`,
      'content-encoding': encoding,
    },
    body,
  })

test('a client that disconnects during a push leaves no objects behind', async ({ world }) => {
  await using folder = await temporaryFolder()
  const project = await storedProject(world)
  const objects = join(project.repository.gitDir, 'objects')
  const body = await pushOf(folder.path)
  const socket = connect(Number(new URL(world.origin).port), '127.0.0.1')
  socket.write(
    `POST /${project.full_path}.git/git-receive-pack HTTP/1.1\r\nhost: x\r\nauthorization: ${basic(world)}\r\n` +
      `content-type: application/x-git-receive-pack-request\r\ncontent-length: ${body.length}\r\n\r\n`,
  )
  socket.write(body.subarray(0, body.length >> 1))
  await expect.poll(() => readdir(objects)).toHaveLength(3)
  socket.destroy()
  await expect.poll(() => readdir(objects)).toEqual(['info', 'pack'])
})

test('415 when the body has another encoding than gzip, and no branch moves', async ({ world }) => {
  await using folder = await temporaryFolder()
  const project = await storedProject(world)
  const body = await pushOf(folder.path, 2000)
  for (const service of ['git-receive-pack', 'git-upload-pack'])
    for (const encoding of ['deflate', 'br', 'gzip, gzip', 'x'])
      expect(await post(world, project, service, deflateSync(body), encoding), encoding).toMatchObject({
        status: 415,
        text: 'Unsupported Content-Encoding\n',
        headers: { 'accept-encoding': 'gzip' },
      })
  expect(project.repository.git('for-each-ref')).toBe('')
  expect((await post(world, project, 'git-receive-pack', body, 'identity')).status).toBe(200)
  expect(project.repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
})

describe('pushes with a gzip body', () => {
  test('400 when the gzip body of a push is corrupt or incomplete, and no objects remain', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await storedProject(world)
    const { gitDir } = project.repository
    const zipped = gzipSync(await pushOf(folder.path))
    const half = zipped.length >> 1
    const bodies = {
      'not gzip': Buffer.from('0000'),
      truncated: zipped.subarray(0, half),
      'corrupt in the middle': Buffer.concat([zipped.subarray(0, half), Buffer.alloc(half, 0xff)]),
    }
    for (const service of ['git-receive-pack', 'git-upload-pack'])
      for (const [what, body] of Object.entries(bodies)) {
        const answer = await post(world, project, service, body)
        expect(answer, `${service}: ${what}`).toMatchObject({
          status: 400,
          text: 'The body is not what its Content-Encoding says: gzip\n',
        })
        expect(await readdir(join(gitDir, 'objects'))).toEqual(['info', 'pack'])
      }
    expect(project.repository.git('for-each-ref')).toBe('')

    const whole = await post(world, project, 'git-receive-pack', zipped)
    expect(whole.status).toBe(200)
    expect(project.repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
  })
  test.for([
    ['small', 2000],
    ['large', large],
  ] as const)(
    '400 when the gzip body of a %s push lacks only its checksum, and no branch moves',
    async ([, size], { world }) => {
      await using folder = await temporaryFolder()
      const project = await storedProject(world)
      const zipped = gzipSync(await pushOf(folder.path, size))
      expect(await post(world, project, 'git-receive-pack', zipped.subarray(0, -8))).toMatchObject({ status: 400 })
      expect(project.repository.git('for-each-ref')).toBe('')
      expect((await post(world, project, 'git-receive-pack', zipped)).status).toBe(200)
      expect(project.repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
    },
  )

  test('what follows a push in its gzip body is not decompressed beyond 16 MiB', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await storedProject(world)
    const zipped = gzipSync(Buffer.concat([await pushOf(folder.path), Buffer.alloc(96 * 1024 * 1024)]))
    // Only who decompresses all of it sees that the checksum is wrong.
    zipped.writeInt8(~zipped.readInt8(zipped.length - 8), zipped.length - 8)
    expect((await post(world, project, 'git-receive-pack', zipped)).status).toBe(200)
    expect(project.repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
  })
})

test('a push to a damaged repository moves its branch, or is refused in a sentence, and the log has the cause', async ({
  world,
}) => {
  await using folder = await temporaryFolder()
  const work = folder.path
  const project = await storedProject(world)
  const { repository } = project
  repository.commit({ 'a.txt': randomBytes(2000).toString('hex'), 'b.txt': 'b' })
  repository.git('repack', '-adq')
  await world.root.post(`/projects/${project.id}/protected_branches`, { name: 'main' })
  const url = world.remote({ url: `${world.origin}/${project.full_path}.git` } as TestProject, world.root)
  await git(work, 'clone', '-q', '--no-hardlinks', repository.gitDir, '.')
  const packs = join(repository.gitDir, 'objects/pack')
  const pack = join(packs, (await readdir(packs)).find((name) => name.endsWith('.pack'))!)
  const whole = await readFile(pack)
  await chmod(pack, 0o644)
  await writeFile(pack, Buffer.concat([whole.subarray(0, 20), Buffer.alloc(whole.length - 40), whole.subarray(-20)]))

  const { log } = await world.app.open(null)
  using logged = vi.spyOn(log, 'error')
  const refused =
    /remote: The repository is damaged: git on the server could not read it\.[\s\S]*pre-receive hook declined/
  await git(work, 'switch', '-q', '--orphan', 'other')
  await writeFile(join(work, 'c.txt'), 'c')
  await git(work, 'add', 'c.txt')
  await git(work, 'commit', '-qm', 'Other')
  await git(work, 'push', '-q', url, 'other')
  await expect(git(work, 'push', '-q', url, '+other:main')).rejects.toThrow(refused)
  await git(work, 'switch', '-q', '-c', 'next', 'main')
  await writeFile(join(work, 'b.txt'), 'more')
  await git(work, 'commit', '-qam', 'Change')
  await expect(git(work, 'push', '-q', url, 'next')).rejects.toThrow(refused)
  // Git itself receives pushes of more than 99 objects.
  for (let at = 0; at < 150; at++) await writeFile(join(work, `${at}.txt`), String(at))
  await writeFile(join(work, 'a.txt'), `${await readFile(join(work, 'a.txt'), 'utf8')}more`)
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'Many')
  const many = await git(work, 'push', url, 'next:many').catch(({ message }: Error) => message)
  expect(many.match(/^remote: .*\S/gm)).toEqual([
    'remote: The repository is damaged: git on the server could not read it. Please contact your Stithy administrator.',
  ])
  expect(logged.mock.calls.map(([facts]) => String((facts as unknown as { err: Error }).err))).toEqual(
    Array(4).fill(expect.stringMatching(/^(Git|Helper)?(Error|Death): .*\/objects\/pack\//s)),
  )
  const [event] = (await world.root.get(`/projects/${project.id}/events?action=pushed`)).json
  expect(event.push_data).toMatchObject({ ref: 'other', commit_to: await git(work, 'rev-parse', 'other') })
})

test('a fetch from a damaged repository lists the refs that can be read and gets what is whole, and the log has the cause', async ({
  world,
}) => {
  await using folder = await temporaryFolder()
  const project = await storedProject(world)
  const { repository } = project
  const whole = repository.commit({ 'a.txt': 'a' })
  const damaged = repository.commit({ 'b.txt': 'b' }, { branch: 'damaged' })
  const file = join(repository.gitDir, 'objects', damaged.slice(0, 2), damaged.slice(2))
  await chmod(file, 0o644)
  await writeFile(file, 'damaged')
  const { log } = await world.app.open(null)
  using logged = vi.spyOn(log, 'error')
  const url = world.remote({ url: `${world.origin}/${project.full_path}.git` } as TestProject, world.root)
  expect(await git(folder.path, 'ls-remote', url)).toContain(`${whole}\trefs/heads/main`)
  await git(folder.path, 'clone', '-q', '--single-branch', '-b', 'main', url, '.')
  expect(await git(folder.path, 'rev-parse', 'HEAD')).toBe(whole)
  await expect(git(folder.path, 'fetch', '-q', url, 'damaged')).rejects.toThrow('fatal: ')
  expect(logged.mock.calls.map(([facts]) => facts)).toEqual(
    expect.arrayContaining([
      {
        projectId: project.id,
        err: expect.objectContaining({
          message: expect.stringMatching(/^git upload-pack ended with 128: .*is corrupt/s),
        }),
      },
    ]),
  )
})
