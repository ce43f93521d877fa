import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { deployKey, gitSsh, hasSsh, keyPair, ssh, sshRefusals, sshUrl, sshWith, sshWords, withKey } from '../ssh.ts'
import { developerIn, pushSession } from '../ssh-sessions.ts'
import { pushesTo } from '../tables/pushes.ts'
import { usesOfSshKeys } from '../tables/users.ts'
import { workTree } from '../work-tree.ts'
import { git, temporaryFolder, test } from '../world.ts'

const { missing, unwritable } = sshRefusals

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
