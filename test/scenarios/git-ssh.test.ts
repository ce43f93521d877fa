import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { Level, Visibility } from '../../src/access/levels.ts'
import { withTwoFactor } from '../../src/modules/accounts/two-factor/testing.ts'
import { gitSsh, hasSsh, type KeyPair, keyPair, ssh, sshUrl, sshWith, sshWords, withKey } from '../ssh.ts'
import { pushesTo } from '../tables/pushes.ts'
import { changeUser, deleteSshKeys, expireSshKeys, usesOfSshKeys } from '../tables/users.ts'
import { type Client, git, temporaryFolder, test, World } from '../world.ts'

/** A clone with one commit on `main`. */
async function workTree(folder: string): Promise<string> {
  await git(folder, 'init', '-q', '-b', 'main', 'work')
  const work = join(folder, 'work')
  await writeFile(join(work, 'README.md'), '# Hello\n')
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'First commit')
  return work
}

const missing = 'Stithy: The project you were looking for could not be found.'
const unreadable = 'Stithy: You are not allowed to download code from this project.'
const unwritable = 'Stithy: You are not allowed to push code to this project.'

/** A deploy key that is enabled in a project. */
async function deployKey(world: World, folder: string, project: { id: number }, can_push: boolean): Promise<KeyPair> {
  const key = await keyPair(folder)
  const made = await world.root.post(`/projects/${project.id}/deploy_keys`, { title: 'robot', key: key.text, can_push })
  expect(made.status).toBe(201)
  return key
}

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

  test.for([
    'ls -la',
    'sh',
    '',
    'git-upload-pack',
    'git-upload-pack ',
    'git-upload-pack x',
    "git-upload-pack '../../etc'",
    "git-upload-pack '/etc/passwd' extra",
    "git-upload-pack 'a/b.git'; id",
    "git-upload-pack 'a/b.git' && id",
    "git-upload-pack 'a/$(id).git'",
    "git-upload-pack 'a/`id`.git'",
    "git-upload-pack 'a/b.git\nid'",
    "git-upload-pack --help 'a/b.git'",
    "git-upload-pack --upload-pack=id 'a/b.git'",
    'git-upload-pack "a/b.git"',
    "git-upload-pack 'a'/'b.git'",
    "git-upload-pack 'a/b.git",
    "git-upload-pack '~/b.git'",
    "git-upload-pack '-x/b.git'",
    "git-receive-pack 'a//b.git'",
    "git-shell -c 'git-upload-pack a/b.git'",
    "GIT-UPLOAD-PACK 'a/b.git'",
    "git  upload-pack 'a/b.git'",
    `git-upload-pack '${'a/'.repeat(3000)}b.git'`,
  ])('the SSH command %j is refused with a message', async (command, { world }) => {
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, await world.user())
    const { code, out, err } = await ssh(world, key, command)
    if (command === '') return expect(out).toContain('Welcome')
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(err).toMatch(
      /^Stithy: (The command you're trying to execute is not allowed|The project you were looking for could not be found)\.\n$/,
    )
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

  test('SSH refuses unknown keys, other user names and stolen public keys', async ({ world }) => {
    await using folder = await temporaryFolder()
    const [known, unknown] = [await withKey(folder.path, await world.user()), await keyPair(folder.path)]
    expect(await ssh(world, unknown)).toMatchObject({
      code: 255,
      err: expect.stringContaining('Permission denied (publickey)'),
    })
    expect(await sshWith(world, known, [], 'root')).toMatchObject({ code: 255 })
    // A public key of another user without its private half.
    await writeFile(join(folder.path, 'stolen.pub'), known.text)
    await copyFile(unknown.file, join(folder.path, 'stolen'))
    expect(await ssh(world, { ...known, file: join(folder.path, 'stolen') })).toMatchObject({ code: 255 })
  })

  test.for([
    ['rsa', '2048'],
    ['ecdsa', '256'],
    ['ecdsa', '521'],
    ['ed25519', '256'],
  ] as const)('an SSH key of type %s with %s bits is accepted', async ([type, bits], { world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await keyPair(folder.path, '-t', type, '-b', bits)
    expect((await ann.post('/user/keys', { title: type, key: key.text })).status).toBe(201)
    expect(await ssh(world, key)).toMatchObject({ code: 0, err: '' })
  })

  test.for([
    ['curve25519-sha256', 0],
    ['ecdh-sha2-nistp256', 0],
    ['diffie-hellman-group14-sha256', 0],
    ['diffie-hellman-group18-sha512', 255],
    ['diffie-hellman-group14-sha1', 255],
  ] as const)('ssh with key exchange %s ends with status %s', async ([algorithm, code], { world }) => {
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, world.root)
    expect((await sshWith(world, key, ['-o', `KexAlgorithms=${algorithm}`], 'git')).code).toBe(code)
  })

  test('a client that waits for the key exchange of the server gets it', async ({ world }) => {
    const socket = connect({ host: '127.0.0.1', port: world.config.sshPort })
    let received = ''
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk
    })
    socket.write('SSH-2.0-patient\r\n')
    await expect.poll(() => received).toMatch(/^SSH-2\.0-Stithy\r\n.*curve25519-sha256/s)
    socket.destroy()
  })

  test('SSH refuses blocked users, expired keys and removed keys at once', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const setState = (state: string) => changeUser(world, ann.id, { state: state })
    for (const [state, text] of [
      ['blocked', 'Your account has been blocked.'],
      ['deactivated', 'Your account has been deactivated. Please sign in to activate it.'],
    ] as const) {
      await setState(state)
      expect(await ssh(world, key)).toEqual({ code: 1, out: '', err: `Stithy: ${text}\n` })
    }
    await setState('active')
    expect((await ssh(world, key)).code).toBe(0)
    await expireSshKeys(world, ann.id)
    expect(await ssh(world, key)).toEqual({ code: 1, out: '', err: 'Stithy: Your SSH key has expired.\n' })
    await deleteSshKeys(world, ann.id)
    expect((await ssh(world, key)).code).toBe(255)
  })

  test('SSH refuses keys whose type or size was forbidden later, deploy keys included', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const project = await world.project()
    const robot = await deployKey(world, folder.path, project, false)
    const fetches = (by: KeyPair) => gitSsh(world, by, folder.path, 'ls-remote', sshUrl(world, project))
    await world.settings({ ed25519_key_restriction: -1, dsa_key_restriction: -1 })
    const forbidden = 'Stithy: Your SSH key type is forbidden. Must be RSA or ECDSA.\n'
    expect(await ssh(world, key)).toEqual({ code: 1, out: '', err: forbidden })
    expect((await fetches(robot)).err).toContain(forbidden)
    const rsa = await keyPair(folder.path, '-t', 'rsa', '-b', '2048')
    expect((await ann.post('/user/keys', { title: 'old', key: rsa.text })).status).toBe(201)
    expect((await ssh(world, rsa)).code).toBe(0)
    await world.settings({ ed25519_key_restriction: 0, rsa_key_restriction: 4096 })
    expect((await ssh(world, rsa)).err).toBe('Stithy: Your SSH key must be at least 4096 bits.\n')
    expect([(await ssh(world, key)).code, (await fetches(robot)).code]).toEqual([0, 0])
  })

  test('2fa_recovery_codes prints new recovery codes after a confirmation', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const device = await withTwoFactor(world, ann)
    const ask = async (answer: string) => {
      const asking = spawn('ssh', sshWords(world, key, '2fa_recovery_codes'), { stdio: ['pipe', 'pipe', 'ignore'] })
      asking.stdin.end(answer)
      const [printed] = await Promise.all([asking.stdout.setEncoding('utf8').toArray(), once(asking, 'close')])
      return printed.join('')
    }
    const left = async () => (await ann.get('/user/two_factor')).json.recovery_codes_left
    for (const answer of ['', 'no\n', 'x'.repeat(10_000)])
      expect(await ask(answer)).toMatch(/\(yes\/no\).*No new recovery codes were generated/s)
    expect(await ann.post('/user/two_factor/recovery_codes', { code: device.recoveryCodes[0] })).toMatchObject({
      status: 201,
    })
    const codes = (await ask('yes\n')).match(/\b[0-9a-f]{20}\b/g)!
    expect([codes.length, await left()]).toEqual([10, 10])
    expect(await ann.send('DELETE', '/user/two_factor', { json: { code: codes[3] } })).toMatchObject({ status: 204 })
    const { json } = await world.root.get(`/audit_events?entity_type=User&entity_id=${ann.id}`)
    expect(json.filter((event: any) => event.event_name === 'recovery_codes_renewed')).toHaveLength(2)
    const robot = await deployKey(world, folder.path, await world.project(), true)
    expect((await ssh(world, robot, '2fa_recovery_codes')).err).toBe('Stithy: A deploy key has no recovery codes.\n')
  })

  test('an open SSH connection runs no more commands after its key was removed', async ({ world }) => {
    await using folder = await temporaryFolder()
    const ann = await world.user()
    const key = await withKey(folder.path, ann)
    const shared = ['-o', `ControlPath=${join(folder.path, 'master')}`]
    await sshWith(world, key, [...shared, '-o', 'ControlMaster=auto', '-o', 'ControlPersist=20'], 'git')
    expect((await sshWith(world, key, shared, 'git')).code).toBe(0)
    await deleteSshKeys(world, ann.id)
    expect(await sshWith(world, key, shared, 'git')).toMatchObject({
      code: 1,
      err: 'Stithy: This key is no longer registered.\n',
    })
    await sshWith(world, key, [...shared, '-O', 'exit'], 'git')
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
    expect(
      (await gitSsh(world, key, work, 'push', sshUrl(world, { full_path: `${ann.username}/-x` }), 'main')).code,
    ).not.toBe(0)
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

/** No connection reaches its maximum age while these tests run. */
const longMs = 60 * 60_000

const connectTo = async (at: World, greeting: string): Promise<{ socket: Socket; closed: Promise<unknown> }> => {
  const socket = connect(at.config.sshPort, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(greeting)
  socket.resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await new Promise((resolve) => socket.once('connect', resolve))
  return { socket, closed }
}

/** A client that has signed in and then sends nothing. */
async function silent(at: World, key: KeyPair): Promise<{ client: ssh2.Client; closed: Promise<unknown> }> {
  const client = new ssh2.Client()
  client.on('error', () => {})
  const ready = once(client, 'ready')
  client.connect({ port: at.config.sshPort, username: 'git', privateKey: await readFile(key.file), readyTimeout: 0 })
  await ready
  return { client, closed: new Promise<void>((resolve) => client.once('close', () => resolve())) }
}

describe.skipIf(!hasSsh)('idle SSH connections (need OpenSSH)', () => {
  test.for(['', 'SSH-2.0-slow\r\n', 'GET / HTTP/1.1\r\n\r\n'])(
    'the server disconnects a client that sends %j and nothing more',
    async (greeting) => {
      await using brief = await World.start({}, { sshLimits: { signInMs: 300 } })
      const { closed } = await connectTo(brief, greeting)
      await closed
    },
  )

  test('the server disconnects a signed-in SSH client after the idle timeout', async () => {
    await using brief = await World.start({}, { sshLimits: { idleMs: 300 } })
    await using folder = await temporaryFolder()
    const { closed } = await silent(brief, await withKey(folder.path, brief.root))
    await closed
  })

  test('an SSH push that stalls is ended and creates no project', async () => {
    await using brief = await World.start({}, { sshLimits: { stalledMs: 300 } })
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, brief.root)
    const project = await brief.project()
    // One to an existing repository, one to a path where the push would create a project.
    for (const path of [project.full_path, 'root/not-there-yet'])
      await once(spawn('ssh', sshWords(brief, key, `git-receive-pack '${path}.git'`)), 'close')
    expect((await brief.root.get('/projects/root%2Fnot-there-yet')).status).toBe(404)
  })
})

describe.skipIf(!hasSsh)('SSH limits (need OpenSSH)', () => {
  let strict: World
  let usual: World
  beforeAll(async () => {
    const strictLimits = {
      maxUnauthenticated: 5,
      maxAttempts: 3,
      maxSessions: 2,
      maxIdle: 3,
      signInMs: longMs,
      idleMs: longMs,
    }
    strict = await World.start({}, { sshLimits: strictLimits })
    usual = await World.start({}, { sshLimits: { signInMs: longMs } })
  })
  afterAll(async () => {
    await strict?.[Symbol.asyncDispose]()
    await usual?.[Symbol.asyncDispose]()
  })

  test.for([
    ['a limit of five connections without a key', () => strict],
    ['the default limits', () => usual],
  ] as const)('500 connections without a key do not block other clients, with %s', async ([, place]) => {
    await using folder = await temporaryFolder()
    const at = place()
    const key = await withKey(folder.path, at.root)
    const greeting = (n: number) => (n % 2 ? '' : 'SSH-2.0-slow\r\n')
    const stalled = await Promise.all(Array.from({ length: 500 }, (_, n) => connectTo(at, greeting(n))))
    expect((await ssh(at, key)).code).toBe(0)
    expect((await at.root.get('/user')).status).toBe(200)
    for (const { socket } of stalled) socket.destroy()
  })

  test('idle connections of a user at the limit are closed, not those of other users', async () => {
    await using folder = await temporaryFolder()
    const [ann, bob] = [
      await withKey(folder.path, await strict.user()),
      await withKey(folder.path, await strict.user()),
    ]
    const first = await silent(strict, bob)
    const crowd = [await silent(strict, ann), await silent(strict, ann), await silent(strict, ann)]
    await crowd[0]!.closed
    // The others are open: they still run a command.
    for (const { client } of [first, crowd[1]!, crowd[2]!]) {
      const channel = await new Promise<ssh2.ClientChannel>((resolve, reject) =>
        client.exec('hello', (error, opened) => (error ? reject(error) : resolve(opened))),
      )
      await new Promise<void>((resolve) => channel.resume().stdout.on('close', () => resolve()))
    }
    for (const { client } of [first, ...crowd]) client.end()
  })

  test('an SSH connection is closed after three refused keys', async () => {
    await using folder = await temporaryFolder()
    const keys = await Promise.all(Array.from({ length: 5 }, () => keyPair(folder.path)))
    const good = await withKey(folder.path, strict.root)
    const offered = [...keys, good].flatMap(({ file }) => ['-i', file])
    expect((await sshWith(strict, keys[0]!, offered, 'git')).code).toBe(255)
    expect((await sshWith(strict, good, [], 'git')).code).toBe(0)
  })

  test('an SSH connection runs at most two commands at a time', async () => {
    await using folder = await temporaryFolder()
    const key = await withKey(folder.path, strict.root)
    const project = await strict.project()
    const shared = ['-o', `ControlPath=${join(folder.path, 'master')}`]
    await sshWith(strict, key, [...shared, '-o', 'ControlMaster=auto', '-o', 'ControlPersist=300'], 'git')
    const command = `git-receive-pack '${project.full_path}.git'`
    const running = [0, 1].map(() => spawn('ssh', [...shared, ...sshWords(strict, key, command)]))
    await Promise.all(running.map(({ stdout }) => once(stdout, 'data')))
    // The client then tries a new connection.
    expect((await sshWith(strict, key, shared, 'git')).err).toContain('refused')
    for (const { stdin } of running) stdin.end('0000')
    await Promise.all(running.map((each) => once(each, 'close')))
    expect((await sshWith(strict, key, shared, 'git')).err).toBe('')
    await sshWith(strict, key, [...shared, '-O', 'exit'], 'git')
  })
})
