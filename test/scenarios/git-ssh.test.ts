import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import ssh2 from 'ssh2'
import { describe, expect } from 'vitest'
import type { Level, Visibility } from '../../src/access/levels.ts'
import { batch, follow, lfs, oidOf } from '../../src/modules/pushes/large-files/testing.ts'
import { deployKey, gitSsh, hasSsh, type KeyPair, keyPair, ssh, sshUrl, sshWith, sshWords, withKey } from '../ssh.ts'
import { pushesTo } from '../tables/pushes.ts'
import { usesOfSshKeys } from '../tables/users.ts'
import { Client, git, temporaryFolder, test, unique, type World } from '../world.ts'

/** A clone with one commit on `main`. */
async function workTree(folder: string): Promise<string> {
  await git(folder, 'init', '-q', '-b', 'main', 'work')
  const work = join(folder, 'work')
  await writeFile(join(work, 'README.md'), '# Hello\n')
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'First commit')
  return work
}

const packet = (text: string): string => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`

/** A command that stays open, and what it has printed. */
async function session(world: World, key: KeyPair, command: string, env: Record<string, string> = {}) {
  const client = new ssh2.Client()
  client.on('error', () => {})
  const ready = once(client, 'ready')
  client.connect({ port: world.config.sshPort, username: 'git', privateKey: await readFile(key.file) })
  await ready
  const channel = await new Promise<ssh2.ClientChannel>((resolve, reject) =>
    client.exec(command, { env }, (error, opened) => (error ? reject(error) : resolve(opened))),
  )
  const opened = { channel, received: '', messages: '', isClosed: false, end: () => client.end() }
  channel.on('data', (chunk: Buffer) => {
    opened.received += chunk.toString('latin1')
  })
  channel.stderr.on('data', (chunk: Buffer) => {
    opened.messages += chunk.toString('latin1')
  })
  channel.on('close', () => {
    opened.isClosed = true
  })
  return opened
}

/** A session of protocol 2 that stays open. `refs` resolves with what the service answers to another request for the list of refs. */
async function fetchSession(world: World, key: KeyPair, path: string) {
  const opened = await session(world, key, `git-upload-pack '${path}.git'`, { GIT_PROTOCOL: 'version=2' })
  const answer = () => expect.poll(() => opened.isClosed || opened.received.endsWith('0000')).toBe(true)
  await answer()
  return {
    async refs(prefix: string): Promise<string> {
      opened.received = ''
      if (!opened.isClosed)
        opened.channel.write(`${packet('command=ls-refs\n')}0001${packet(`ref-prefix ${prefix}\n`)}0000`)
      await answer()
      return opened.isClosed ? opened.messages : opened.received
    },
    end: opened.end,
  }
}

/** The part of ssh2 that sends a command in a session which has one, as no client of it does. */
type Sender = { _client: { _protocol: { exec(channel: number, command: string, wantsReply: boolean): void } } }

/**
 * Begins a push that creates the branch `late` at an object which the project has; `complete` sends all of it. `another` is sent as a
 * second command of the session.
 */
async function pushSession(world: World, key: KeyPair, path: string, oid: string, another?: string) {
  const opened = await session(world, key, `git-receive-pack '${path}.git'`)
  await expect.poll(() => opened.received.endsWith('0000')).toBe(true)
  if (another !== undefined) {
    const { _client, outgoing } = opened.channel as unknown as Sender & { outgoing: { id: number } }
    _client._protocol.exec(outgoing.id, another, false)
  }
  return {
    async complete(): Promise<string> {
      const pack = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])])
      opened.channel.write(`${packet(`${'0'.repeat(40)} ${oid} refs/heads/late\0report-status`)}0000`)
      opened.channel.end(Buffer.concat([pack, createHash('sha1').update(pack).digest()]))
      await expect.poll(() => opened.isClosed).toBe(true)
      opened.end()
      return opened.received + opened.messages
    },
  }
}

/** A developer with a key, kept in the folder, of a project with one branch: `main` at `at`, the path of all branches. */
async function developerIn(world: World, folder: string) {
  const ann = await world.user()
  const key = await withKey(folder, ann)
  const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
  const at = `/projects/${project.id}/repository/branches`
  const [main] = (await world.root.get(at)).json
  return { ann, key, project, at, main }
}

const missing = 'Stithy: The project you were looking for could not be found.'
const unreadable = 'Stithy: You are not allowed to download code from this project.'
const unwritable = 'Stithy: You are not allowed to push code to this project.'

type End = (world: World, ann: Client, projectId: number) => Promise<unknown>

const lostRights: readonly [what: string, message: string, end: End][] = [
  ['the membership ends', missing, (world, ann, id) => world.root.delete(`/projects/${id}/members/${ann.id}`)],
  ['the account is blocked', 'any more', (world, ann) => world.root.post(`/users/${ann.id}/block`)],
  [
    'the key is removed',
    'any more',
    async (_world, ann) => ann.delete(`/user/keys/${(await ann.get('/user/keys')).json[0].id}`),
  ],
]

describe.skipIf(!hasSsh)('git over SSH (needs OpenSSH)', () => {
  test('a first push over SSH is read back through a clone, a fetch and the API', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ members: [[ann, 'maintainer']] })
    const work = await workTree(folder.path)
    const url = sshUrl(world, project)

    expect(await gitSsh(world, key, work, 'push', '-o', 'ci.skip', url, 'main')).toMatchObject({ code: 0 })
    expect((await ann.get(`/projects/${project.id}`)).json).toMatchObject({
      default_branch: 'main',
      ssh_url_to_repo: url,
    })
    expect(await gitSsh(world, key, folder.path, 'clone', '-q', url, 'copy')).toEqual({ code: 0, out: '', err: '' })
    await git(work, 'commit', '-q', '--allow-empty', '-m', 'Second')
    expect((await gitSsh(world, key, work, 'push', '-q', url, 'main')).code).toBe(0)
    expect((await gitSsh(world, key, join(folder.path, 'copy'), 'pull', '-q')).code).toBe(0)
    expect(await git(join(folder.path, 'copy'), 'log', '-1', '--format=%s')).toBe('Second')

    const pushes = await pushesTo(world, project.id, 'state', 'transport', 'options', 'actor_id')
    expect(pushes).toEqual([
      { state: 'done', transport: 'ssh', options: ['ci.skip'], actor_id: ann.id },
      { state: 'done', transport: 'ssh', options: [], actor_id: ann.id },
    ])
    expect(await usesOfSshKeys(world, ann.id)).toEqual([{ used: true }])
  })

  test.for(lostRights)('an open session tells nothing new once %s', async ([, message, end], { world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
    const session = await fetchSession(world, key, project.full_path)
    const later = await fetchSession(world, key, project.full_path)
    expect(await session.refs('refs/tags/')).toBe('0000')
    await world.root.post(`/projects/${project.id}/repository/branches`, { branch: 'new', ref: 'master' })
    // Longer than the rights of a session are trusted.
    await sleep(1000)
    expect(await session.refs('refs/heads/')).toContain('refs/heads/new')
    await end(world, ann, project.id)
    const answer = await later.refs('refs/heads/')
    expect(answer).not.toContain('refs/heads/new')
    expect(answer).toContain(message)
    later.end()
    session.end()
  })

  test.for(lostRights)('a push that has begun is refused once %s', async ([, , end], { world }) => {
    await using folder = await temporaryFolder()
    const { ann, key, project, at, main } = await developerIn(world, folder.path)
    const push = await pushSession(world, key, project.full_path, main.commit.id)
    await end(world, ann, project.id)
    expect(await push.complete()).toContain('pre-receive hook declined')
    expect((await world.root.get(at)).json).toHaveLength(1)
  })

  test('a first push creates no project once the key is removed', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const push = await pushSession(world, key, `${ann.username}/late`, '1'.repeat(40))
    await ann.delete(`/user/keys/${(await ann.get('/user/keys')).json[0].id}`)
    expect(await push.complete()).toContain('This key may not be used any more.')
    expect(await ann.get(`/projects/${encodeURIComponent(`${ann.username}/late`)}`)).toMatchObject({ status: 404 })
  })

  test('a push that takes long is accepted while its key is valid', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
    const at = `/projects/${project.id}/repository/branches`
    const [main] = (await world.root.get(at)).json
    const push = await pushSession(world, await withKey(folder.path, ann), project.full_path, main.commit.id)
    expect(await push.complete()).toContain('ok refs/heads/late')
    const robot = await deployKey(world, folder.path, project, true)
    await world.root.delete(`${at}/late`)
    const again = await pushSession(world, robot, project.full_path, main.commit.id)
    expect(await again.complete()).toContain('ok refs/heads/late')
  })

  test.for(lostRights)('an archive requested late has nothing new once %s', async ([, message, end], { world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
    const request = `${packet('argument --format=tar\n')}${packet('argument master\n')}0000`
    const [before, after] = await Promise.all(
      [1, 2].map(() => session(world, key, `git-upload-archive '${project.full_path}.git'`)),
    )
    before!.channel.end(request)
    await expect.poll(() => before!.isClosed).toBe(true)
    expect(before!.received).toContain('README.md')
    await end(world, ann, project.id)
    after!.channel.end(request)
    await expect.poll(() => after!.isClosed).toBe(true)
    expect(after!.received).not.toContain('README.md')
    expect(after!.messages).toContain(message)
    before!.end()
    after!.end()
  })

  test.for(
    lostRights.flatMap(([what, message, end]) =>
      ([0, 1] as const).map((version) => [version, what, message, end] as const),
    ),
  )(
    'a fetch by protocol %d gets nothing that is requested late once %s',
    async ([version, , message, end], { world }) => {
      await using folder = await temporaryFolder()
      const ann = await world.user()
      const key = await withKey(folder.path, ann)
      const project = await world.project({ initialize_with_readme: true, members: [[ann, 'developer']] })
      const [before, after] = await Promise.all(
        [1, 2].map(() =>
          session(world, key, `git-upload-pack '${project.full_path}.git'`, { GIT_PROTOCOL: `version=${version}` }),
        ),
      )
      for (const opened of [before!, after!]) await expect.poll(() => opened.received.endsWith('0000')).toBe(true)
      const oid = /([0-9a-f]{40}) refs\/heads\/master/.exec(after!.received)![1]!
      // Longer than the rights of a session are trusted.
      await sleep(1000)
      const request = `${packet(`want ${oid}\n`)}0000${packet('done\n')}`
      before!.channel.end(request)
      await expect.poll(() => before!.isClosed).toBe(true)
      expect(before!.received).toContain('PACK')
      await end(world, ann, project.id)
      after!.channel.end(request)
      await expect.poll(() => after!.isClosed).toBe(true)
      expect(after!.received).not.toContain('PACK')
      expect(after!.messages).toContain(message)
      before!.end()
      after!.end()
    },
  )

  test('protocol 0 and 2, shallow and partial clones and archives work over SSH', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ visibility: 'public' })
    const work = await workTree(folder.path)
    for (let n = 0; n < 5; n++) await git(work, 'commit', '-q', '--allow-empty', '-m', `more ${n}`)
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    const url = sshUrl(world, project)
    const cloned = async (name: string, ...words: string[]) => {
      expect(await gitSsh(world, key, folder.path, ...words, '-q', url, name)).toMatchObject({ code: 0 })
      return git(join(folder.path, name), 'rev-list', '--count', 'HEAD')
    }
    expect(await cloned('v0', '-c', 'protocol.version=0', 'clone')).toBe('6')
    expect(await cloned('v2', '-c', 'protocol.version=2', 'clone')).toBe('6')
    expect(await cloned('shallow', 'clone', '--depth=2')).toBe('2')
    expect(await cloned('partial', 'clone', '--filter=blob:none', '--no-checkout')).toBe('6')
    const archived = await gitSsh(world, key, folder.path, 'archive', `--remote=${url}`, '--format=tar', 'main')
    expect(archived).toMatchObject({ code: 0, out: expect.stringContaining('# Hello') })
  })

  test('a second command of one session is ignored, and the first one goes on', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { ann, key, project, main } = await developerIn(world, folder.path)
    const push = await pushSession(
      world,
      key,
      project.full_path,
      main.commit.id,
      `git-upload-pack '${project.full_path}.git'`,
    )
    expect(await push.complete()).toContain('ok refs/heads/late')
    expect((await ssh(world, key)).out).toContain(ann.username)
  })

  test('ssh without a command names the user of the key; shells and other commands are refused', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    expect(await ssh(world, key)).toEqual({ code: 0, out: `Welcome to Stithy, @${ann.username}!\n`, err: '' })
    expect((await sshWith(world, key, ['-s'], 'git', 'sftp')).code).not.toBe(0)
    expect((await sshWith(world, key, ['-o', 'ExitOnForwardFailure=yes', '-R', '0:127.0.0.1:9'], 'git')).code).toBe(255)
    expect((await sshWith(world, key, ['-W', `127.0.0.1:${world.config.http.port}`], 'git')).code).toBe(255)
    expect(await ssh(world, key, '2fa_recovery_codes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('not enabled'),
    })
    for (const words of ['x/y.git download', 'x/y.git', 'x/y.git push', "'x/y.git' upload; id"])
      expect(await ssh(world, key, `git-lfs-authenticate ${words}`)).toMatchObject({ code: 1 })
  })

  test('git-lfs-authenticate returns HTTP credentials for users and deploy keys', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const annsKey = await withKey(folder.path, ann)
    const project = await world.project({ members: [[ann, 'reporter']] })
    const robot = await deployKey(world, folder.path, project, true)
    const authenticate = async (key: KeyPair, operation: string) =>
      ssh(world, key, `git-lfs-authenticate '/${project.full_path}.git' ${operation}`)
    expect(await authenticate(annsKey, 'upload')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Access forbidden'),
    })
    for (const [key, operation] of [
      [annsKey, 'download'],
      [robot, 'download'],
      [robot, 'upload'],
    ] as const) {
      const { code, out } = await authenticate(key, operation)
      expect(code).toBe(0)
      const { href, header } = JSON.parse(out)
      const batch = (wanted: string) =>
        fetch(`${href}/objects/batch`, {
          method: 'POST',
          headers: { ...header, 'content-type': 'application/vnd.git-lfs+json' },
          body: JSON.stringify({ operation: wanted, objects: [{ oid: 'a'.repeat(64), size: 1 }] }),
        })
      expect((await batch('download')).status).toBe(200)
      expect((await batch('upload')).status).toBe(operation === 'upload' ? 200 : 403)
    }
    // The credential is checked against its owner on each use.
    const { header, href } = JSON.parse((await authenticate(robot, 'upload')).out)
    const lock = await fetch(`${href}/locks`, {
      method: 'POST',
      headers: { ...header, 'content-type': 'application/vnd.git-lfs+json' },
      body: JSON.stringify({ path: 'a.bin' }),
    })
    expect(lock.status).toBe(201)
    const [{ id }] = (await world.root.get(`/projects/${project.id}/deploy_keys`)).json
    await world.root.delete(`/projects/${project.id}/deploy_keys/${id}`)
    const gone = await fetch(`${href}/locks`, { headers: header })
    expect(gone.status).toBe(401)
  })

  test('what git-lfs-authenticate returned, and what was asked for with it, is refused once the key is removed', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ members: [[ann, 'developer']] })
    const { out } = await ssh(world, key, `git-lfs-authenticate '${project.full_path}.git' upload`)
    const { href, header } = JSON.parse(out)
    const batch = (header: object) =>
      fetch(`${href}/objects/batch`, {
        method: 'POST',
        headers: { ...header, 'content-type': 'application/vnd.git-lfs+json' },
        body: JSON.stringify({ operation: 'upload', objects: [{ oid: 'a'.repeat(64), size: 1 }] }),
      })
    const first = await batch(header)
    expect(first.status).toBe(200)
    const { upload } = JSON.parse(await first.text()).objects[0].actions
    expect((await batch(upload.header)).status).toBe(200)
    await ann.delete(`/user/keys/${(await ann.get('/user/keys')).json[0].id}`)
    expect([(await batch(header)).status, (await batch(upload.header)).status]).toEqual([401, 401])
  })

  test('git-lfs-authenticate for a path without a project creates none: the first files do', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [ann, bob] = [await world.user(), await world.user()]
    const [key, other] = [await withKey(folder.path, ann), await withKey(folder.path, bob)]
    const project = { full_path: `${ann.username}/${unique('made')}` }
    const authenticate = (shown: KeyPair, operation: string) =>
      ssh(world, shown, `git-lfs-authenticate '${project.full_path}.git' ${operation}`)
    const found = async () => (await ann.get(`/projects/${encodeURIComponent(project.full_path)}`)).json
    for (const [shown, operation] of [
      [other, 'upload'],
      [key, 'download'],
    ] as const)
      expect(await authenticate(shown, operation)).toMatchObject({ code: 1, err: 'Stithy: Not found.\n' })

    const { href, header } = JSON.parse((await authenticate(key, 'upload')).out)
    expect(href).toBe(`${world.config.externalUrl}/${project.full_path}.git/info/lfs`)
    const headers = { authorization: header.Authorization }
    const call = (path: string, json: object, { full_path } = project, shown = headers) =>
      lfs(world.anonymous, { full_path }, 'POST', path, { json, headers: shown })
    const content = unique('content')
    const objects = [{ oid: oidOf(content), size: content.length }]
    expect((await call('locks/verify', {})).status).toBe(404)
    expect((await call('objects/batch', { operation: 'upload', objects: [] })).status).toBe(404)
    expect((await call('objects/batch', { operation: 'download', objects })).status).toBe(404)
    // The credential is for this path only.
    const beside = { full_path: `${ann.username}/${unique('beside')}` }
    expect((await call('objects/batch', { operation: 'upload', objects }, beside)).status).toBe(404)
    const own = await world.project({ members: [[ann, 'maintainer']] })
    expect((await call('objects/batch', { operation: 'download', objects }, own)).status).toBe(403)
    expect(await found()).not.toHaveProperty('id')

    const { actions } = (await call('objects/batch', { operation: 'upload', objects })).json.objects[0]
    expect(await found()).toMatchObject({ visibility: 'private', empty_repo: true })
    expect((await follow(world.anonymous, 'PUT', actions.upload, content)).status).toBe(200)
    expect((await call('locks/verify', {})).status).toBe(200)
    expect((await call('objects/batch', { operation: 'download', objects })).json.objects[0]).toHaveProperty('actions')
    await ann.delete(`/user/keys/${(await ann.get('/user/keys')).json[0].id}`)
    expect((await call('objects/batch', { operation: 'upload', objects })).status).toBe(401)
  })

  test('a credential for a path without a project creates none once the right to create projects there has ended', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const project = { full_path: `${group.full_path}/${unique('made')}` }
    const { out } = await ssh(world, key, `git-lfs-authenticate '${project.full_path}.git' upload`)
    await world.root.delete(`/groups/${group.id}/members/${ann.id}`)
    const json = { operation: 'upload', objects: [{ oid: 'a'.repeat(64), size: 1 }] }
    const headers = { authorization: JSON.parse(out).header.Authorization }
    expect((await lfs(world.anonymous, project, 'POST', 'objects/batch', { json, headers })).status).toBe(404)
    expect((await world.root.get(`/groups/${group.id}/projects`)).json).toEqual([])
  })

  test.for([
    "git-upload-pack '/PATH.git'",
    "git-upload-pack 'PATH.git'",
    'git-upload-pack /PATH.git',
    "git upload-pack 'PATH'",
    "git-upload-pack '/PATH.git/'",
  ])('the SSH command %j finds the project', async (command, { world }) => {
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, await world.user())
    const project = await world.project({ visibility: 'public' })
    const asked = await sshWith(world, key, ['-n'], 'git', command.replace('PATH', project.full_path))
    // An empty list of refs, in which git 2.47 and newer name their capabilities; then the client disconnects.
    expect(asked).toEqual({ code: 128, out: expect.stringMatching(/^(?:.* capabilities\^\{\}.*\s)?0000$/s), err: '' })
  })

  test('a deploy key reads where it is enabled, and writes where it has write access', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [project, other, open] = [
      await world.project(),
      await world.project(),
      await world.project({ visibility: 'public' }),
    ]
    const work = await workTree(folder.path)
    for (const each of [project, other, open]) await git(work, 'push', '-q', world.remote(each, world.root), 'main')
    const [reads, writes] = [
      await deployKey(world, folder.path, project, false),
      await deployKey(world, folder.path, project, true),
    ]
    const url = sshUrl(world, project)

    expect(await ssh(world, reads)).toMatchObject({ code: 0, out: 'Welcome to Stithy, robot!\n' })
    expect((await gitSsh(world, reads, folder.path, 'clone', '-q', url, 'copy')).code).toBe(0)
    expect((await gitSsh(world, reads, work, 'push', url, 'main:x')).err).toContain(
      'Stithy: This deploy key does not have write access to this project.\n',
    )
    expect((await gitSsh(world, writes, work, 'push', '-q', url, 'main:x')).code).toBe(0)
    const bySsh = (await pushesTo(world, project.id, 'transport', 'actor_id')).filter(
      ({ transport }) => transport === 'ssh',
    )
    expect(bySsh).toEqual([{ transport: 'ssh', actor_id: world.root.id }])
    expect((await gitSsh(world, writes, work, 'push', url, ':main')).err).toContain(
      'The default branch of a project cannot be deleted.',
    )
    for (const key of [reads, writes]) {
      expect((await gitSsh(world, key, work, 'ls-remote', sshUrl(world, other))).err).toContain(missing)
      expect((await gitSsh(world, key, work, 'push', sshUrl(world, open), 'main:x')).code).not.toBe(0)
      expect(
        (await gitSsh(world, key, work, 'push', sshUrl(world, { full_path: 'root/from-a-robot' }), 'main')).err,
      ).toContain(missing)
    }
    expect((await gitSsh(world, reads, work, 'ls-remote', sshUrl(world, open))).code).toBe(0)
    await world.archive(project)
    expect((await gitSsh(world, writes, work, 'push', url, 'main:y')).err).toContain(unwritable)
    expect((await gitSsh(world, reads, work, 'ls-remote', url)).code).toBe(0)
  })

  test('an SSH push to a path that does not exist creates a private project', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [ann, bob] = [await world.user(), await world.user()]
    const [key, other] = [await withKey(folder.path, ann), await withKey(folder.path, bob)]
    const work = await workTree(folder.path)
    const full_path = `${ann.username}/from-push`
    const url = sshUrl(world, { full_path })
    expect((await gitSsh(world, other, work, 'push', url, 'main')).err).toContain(missing)
    expect((await gitSsh(world, key, work, 'push', '-q', '--dry-run', url, 'main')).code).toBe(0)
    expect((await ann.get(`/projects/${encodeURIComponent(full_path)}`)).status).toBe(404)
    // A client that only says that it has no objects, and then nothing more, holds no resources.
    const silent = spawn('ssh', sshWords(world, key, `git-receive-pack '${full_path}.git'`))
    silent.stdin.write('0000')
    const [code] = await once(silent, 'exit')
    expect(code).toBe(0)
    expect((await ann.get(`/projects/${encodeURIComponent(full_path)}`)).status).toBe(404)
    const answer = await gitSsh(world, key, work, 'push', url, 'main')
    expect(answer).toMatchObject({
      code: 0,
      err: expect.stringContaining(`The private project ${full_path} was successfully created.`),
    })
    expect(answer.err).toContain(`git remote add origin ${url}`)
    expect((await ann.get(`/projects/${encodeURIComponent(full_path)}`)).json).toMatchObject({
      visibility: 'private',
      default_branch: 'main',
    })
    const refused = await gitSsh(world, key, work, 'push', sshUrl(world, { full_path: `${ann.username}/-x` }), 'main')
    expect(refused.code).not.toBe(0)
    expect(refused.err).toContain("path can contain only letters, digits, '_', '-' and '.'.")
  })

  test('over SSH a fetch follows a renamed project, and a push names the new URL', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ members: [[ann, 'maintainer']] })
    const work = await workTree(folder.path)
    await gitSsh(world, key, work, 'push', '-q', sshUrl(world, project), 'main')
    await world.root.put(`/projects/${project.id}`, { path: `${project.path}-new` })
    expect((await gitSsh(world, key, work, 'fetch', '-q', sshUrl(world, project))).code).toBe(0)
    expect((await gitSsh(world, key, work, 'push', sshUrl(world, project), 'main:other')).err).toContain(
      `git remote set-url origin ${sshUrl(world, { full_path: `${project.full_path}-new` })}`,
    )
  })

  test('D2-SETTINGS-GIT-PROTOCOL: SSH or HTTP can be the only enabled protocol', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ visibility: 'public' })
    const overHttp = () => world.root.get(`//${project.full_path}.git/info/refs?service=git-upload-pack`)
    const overSsh = () => gitSsh(world, key, folder.path, 'ls-remote', sshUrl(world, project))
    try {
      await world.settings({ enabled_git_access_protocol: 'http' })
      expect((await overSsh()).err).toContain('Stithy: Git access over SSH is not allowed\n')
      const largeFiles = await ssh(world, key, `git-lfs-authenticate ${project.full_path}.git download`)
      expect(largeFiles).toEqual({ code: 1, out: '', err: 'Stithy: Git access over SSH is not allowed\n' })
      expect((await overHttp()).status).toBe(200)
      await world.settings({ enabled_git_access_protocol: 'ssh' })
      expect(await overHttp()).toMatchObject({ status: 403, text: 'Git access over HTTP is not allowed\n' })
      expect((await overSsh()).code).toBe(0)
    } finally {
      await world.settings({ enabled_git_access_protocol: null })
    }
    expect([(await overHttp()).status, (await overSsh()).code]).toEqual([200, 0])
  })

  test('large files need a credential of an SSH key while only SSH is enabled', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const project = await world.project({ visibility: 'public', members: [[ann, 'developer']] })
    const keys = [await withKey(folder.path, ann), await deployKey(world, folder.path, project, true)]
    const content = unique('content')
    const objects = [{ oid: oidOf(content), size: content.length }]
    const { actions } = (await batch(ann, project, 'upload', [content])).json.objects[0]
    const { username, token } = (
      await world.root.post(`/projects/${project.id}/deploy_tokens`, { name: 'd', scopes: ['read_repository'] })
    ).json
    const robot = new Client(world.origin, { id: 0, username, token })
    const closed = { status: 403, json: { message: 'Git access over HTTP is not allowed' } }
    await world.settings({ enabled_git_access_protocol: 'ssh' })
    try {
      for (const who of [world.anonymous, ann, robot])
        expect(await batch(who, project, 'download', [content]), who.username).toMatchObject(closed)
      expect(await batch(ann, project, 'upload', [content])).toMatchObject(closed)
      expect(await lfs(ann, project, 'GET', 'locks')).toMatchObject(closed)
      expect((await follow(world.anonymous, 'PUT', actions.upload, content)).status).toBe(403)
      for (const key of keys) {
        const { out } = await ssh(world, key, `git-lfs-authenticate ${project.full_path}.git upload`)
        const headers = { authorization: JSON.parse(out).header.Authorization }
        const call = (json: object) => lfs(world.anonymous, project, 'POST', 'objects/batch', { json, headers })
        const [asked] = (await call({ operation: 'upload', objects })).json.objects
        if (asked.actions)
          expect((await follow(world.anonymous, 'PUT', asked.actions.upload, content)).status).toBe(200)
        const [found] = (await call({ operation: 'download', objects })).json.objects
        expect((await follow(world.anonymous, 'GET', found.actions.download)).text).toBe(content)
      }
    } finally {
      await world.settings({ enabled_git_access_protocol: null })
    }
    expect((await batch(robot, project, 'download', [content])).status).toBe(200)
  })

  test('D2-SETTINGS-AUTHORIZED-KEYS: the setting changes nothing, keys come from the database', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [ann, bob] = [await world.user(), await world.user()]
    const before = await withKey(folder.path, ann)
    const stray = await keyPair(folder.path)
    for (const authorized_keys_enabled of [false, true]) {
      const changed = await world.root.put('/application/settings', { authorized_keys_enabled })
      expect(changed).toMatchObject({ status: 200, json: { authorized_keys_enabled } })
      await expect.poll(async () => (await world.app.open(null)).settings).toMatchObject({ authorized_keys_enabled })
      const meanwhile = await withKey(folder.path, bob)
      for (const key of [before, meanwhile]) expect((await ssh(world, key)).code).toBe(0)
      expect((await ssh(world, stray)).code).toBe(255)
    }
  })

  test('SSH pushes that are too large or break a push rule are refused with the reason', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project({ members: [[ann, 'developer']] })
    const work = await workTree(folder.path)
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    await git(work, 'commit', '-q', '--allow-empty', '-m', 'more')
    expect(await gitSsh(world, key, work, 'push', sshUrl(world, project), 'main')).toMatchObject({
      code: 1,
      err: expect.stringContaining('You are not allowed to push code to protected branches on this project.'),
    })
    await writeFile(join(work, 'large'), randomBytes(3_000_000))
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'Large')
    await world.settings({ receive_max_input_size: 1 })
    const refused = await gitSsh(world, key, work, 'push', sshUrl(world, project), 'main:large')
    await world.settings({ receive_max_input_size: 0 })
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('pack exceeds maximum allowed size') })
    expect((await gitSsh(world, key, work, 'push', '-q', sshUrl(world, project), 'main:large')).code).toBe(0)
  })
})

type Row = {
  who: string
  visibility: Visibility
  level: Level
  archived?: boolean
  pull: string | undefined
  push: string | undefined
}

const decisions: readonly Row[] = [
  { who: 'a stranger', visibility: 'private', level: 'none', pull: missing, push: missing },
  { who: 'a stranger', visibility: 'internal', level: 'none', pull: undefined, push: unwritable },
  { who: 'a stranger', visibility: 'public', level: 'none', pull: undefined, push: unwritable },
  { who: 'external user', visibility: 'internal', level: 'none', pull: missing, push: missing },
  { who: 'a guest', visibility: 'private', level: 'guest', pull: unreadable, push: unwritable },
  { who: 'a reporter', visibility: 'private', level: 'reporter', pull: undefined, push: unwritable },
  { who: 'a developer', visibility: 'private', level: 'developer', pull: undefined, push: undefined },
  { who: 'a maintainer', visibility: 'private', level: 'maintainer', pull: undefined, push: undefined },
  { who: 'a developer', visibility: 'private', level: 'developer', archived: true, pull: undefined, push: unwritable },
  { who: 'an administrator', visibility: 'private', level: 'none', pull: undefined, push: undefined },
]

describe.skipIf(!hasSsh)('SSH and HTTP make the same decisions (needs OpenSSH)', () => {
  test.for(decisions)('SSH and HTTP agree: $who, $visibility project, archived: $archived', async (row, { world }) => {
    await using folder = await temporaryFolder()
    const ann: Client = await world.user({ external: row.who.includes('external'), admin: row.who.includes('admin') })
    const key = await withKey(folder.path, ann)
    const project = await world.project({
      visibility: row.visibility,
      members: row.level === 'none' ? [] : [[ann, row.level]],
    })
    const work = await workTree(folder.path)
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    if (row.archived) await world.archive(project)
    for (const [service, expected, words] of [
      ['git-upload-pack', row.pull, ['fetch', '-q', sshUrl(world, project)]],
      ['git-receive-pack', row.push, ['push', '-q', sshUrl(world, project), 'main:refs/heads/mine']],
    ] as const) {
      const overSsh = await gitSsh(world, key, work, ...words)
      const overHttp = await world.anonymous.get(`//${project.full_path}.git/info/refs?service=${service}`, {
        headers: { authorization: `Basic ${Buffer.from(`${ann.username}:${ann.token}`).toString('base64')}` },
      })
      if (expected === undefined) expect([overSsh.code, overHttp.status]).toEqual([0, 200])
      else {
        expect(overSsh.err.split('\n')[0]).toBe(expected)
        expect(`Stithy: ${overHttp.text}`).toBe(`${expected}\n`)
      }
    }
  })
})
