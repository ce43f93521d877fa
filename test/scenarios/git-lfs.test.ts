import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { hasS3, S3Server } from '../s3/server.ts'
import { gitSsh, hasSsh, sshUrl, withKey } from '../ssh.ts'
import { type Client, git, temporaryFolder, test, unique, World } from '../world.ts'

const installed = (() => {
  try {
    return execFileSync('git-lfs', ['version'], { encoding: 'utf8' }).startsWith('git-lfs/')
  } catch {
    return false
  }
})()

/** A clone with a local git-lfs setup, and the files it tracks. */
async function workTree(folder: string, url: string): Promise<string> {
  await git(folder, 'init', '-q', '-b', 'main', 'work')
  const work = join(folder, 'work')
  await git(work, 'lfs', 'install', '--local')
  await git(work, 'lfs', 'track', '*.bin')
  await git(work, 'remote', 'add', 'origin', url)
  await git(work, 'config', `lfs.${url}/info/lfs.locksverify`, 'true')
  return work
}

/** The same with a commit of a large file. */
async function withLargeFile(folder: string, url: string): Promise<string> {
  const work = await workTree(folder, url)
  await writeFile(join(work, 'a.bin'), randomBytes(1000))
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'Large file')
  return work
}

const branchesOf = async (who: Client, path: string) =>
  (await who.get(`/projects/${who.username}%2F${path}/repository/branches`)).json

/** Pushes large files with git-lfs, and clones them. */
async function pushAndClone(world: World): Promise<void> {
  await using folder = await temporaryFolder()
  const project = await world.project()
  const url = world.remote(project, world.root)
  const work = await workTree(folder.path, url)
  const files = [randomBytes(3_000_000), randomBytes(10), Buffer.alloc(0)]
  for (const [n, content] of files.entries()) await writeFile(join(work, `${n}.bin`), content)
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'Large files')
  await git(work, 'push', '-q', 'origin', 'main')

  const raw = await world.root.get(`/projects/${project.id}/repository/files/0.bin/raw?ref=main`)
  expect(raw.text).toMatch(/^version https:\/\/git-lfs/)
  const { statistics } = (await world.root.get(`/projects/${project.id}?statistics=true`)).json
  expect(statistics.lfs_objects_size).toBe(3_000_010)

  await git(
    folder.path,
    'clone',
    '-q',
    '-c',
    'filter.lfs.process=git-lfs filter-process',
    '-c',
    'filter.lfs.smudge=git-lfs smudge -- %f',
    '-c',
    'filter.lfs.clean=git-lfs clean -- %f',
    url,
    'copy',
  )
  for (const [n, content] of files.entries())
    expect((await readFile(join(folder.path, 'copy', `${n}.bin`))).equals(content)).toBe(true)
}

describe.skipIf(!installed)(
  `git-lfs${installed ? '' : ' (skipped: it is not installed; apt-get install git-lfs)'}`,
  () => {
    test('git-lfs uploads files with a push and downloads them with a clone', ({ world }) => pushAndClone(world))

    test.skipIf(!hasS3)(
      'git-lfs follows the redirects to object storage (skipped without test/s3/install)',
      async () => {
        await using server = await S3Server.start()
        await using world = await World.start({ STITHY_BLOB_URL: await server.bucket(unique('bucket')) })
        await pushAndClone(world)
      },
    )

    test('a push with LFS files creates its project', async ({ world }) => {
      await using folder = await temporaryFolder()
      const ann = await world.user()
      const path = unique('made')
      const url = new URL(`${world.origin}/${ann.username}/${path}.git`)
      url.username = ann.username
      url.password = ann.token!
      const work = await withLargeFile(folder.path, url.href)
      await git(work, 'push', '-q', 'origin', 'main')
      expect(await branchesOf(ann, path)).toMatchObject([{ name: 'main' }])
    })

    test.skipIf(!hasSsh)(
      'a push with LFS files over SSH creates its project (skipped without the OpenSSH client)',
      async ({ world }) => {
        await using folder = await temporaryFolder()
        const ann = await world.user()
        const key = await withKey(folder.path, ann)
        const path = unique('made')
        const url = sshUrl(world, { full_path: `${ann.username}/${path}` })
        const work = await withLargeFile(folder.path, url)
        expect(await gitSsh(world, key, work, 'push', '-q', 'origin', 'main')).toMatchObject({ code: 0 })
        expect(await branchesOf(ann, path)).toMatchObject([{ name: 'main' }])
      },
    )

    test.skipIf(!hasSsh)(
      'a dry run of a push over SSH without LFS files creates no project (skipped without the OpenSSH client)',
      async ({ world }) => {
        await using folder = await temporaryFolder()
        const ann = await world.user()
        const key = await withKey(folder.path, ann)
        const full_path = `${ann.username}/${unique('made')}`
        const url = sshUrl(world, { full_path })
        const work = await workTree(folder.path, url)
        await git(work, 'config', `lfs.${world.config.externalUrl}/${full_path}.git/info/lfs.locksverify`, 'true')
        await git(work, 'add', '.')
        await git(work, 'commit', '-qm', 'No large file')
        const push = (...options: string[]) => gitSsh(world, key, work, 'push', '-q', ...options, 'origin', 'main')
        expect(await push('--dry-run')).toMatchObject({ code: 0 })
        expect((await ann.get(`/projects/${encodeURIComponent(full_path)}`)).status).toBe(404)
        expect(await push()).toMatchObject({ code: 0 })
        expect((await ann.get(`/projects/${encodeURIComponent(full_path)}`)).json.empty_repo).toBe(false)
      },
    )

    test('a push without its LFS files is refused, and accepted after git lfs push', async ({ world }) => {
      await using folder = await temporaryFolder()
      const project = await world.project()
      const work = await withLargeFile(folder.path, world.remote(project, world.root))
      await expect(git(work, 'push', '-q', '--no-verify', 'origin', 'main')).rejects.toThrow(/LFS objects are missing/)
      await git(work, 'lfs', 'push', '--all', 'origin')
      await git(work, 'push', '-q', '--no-verify', 'origin', 'main')
    })

    test('"a push that changes a file locked by another user is refused"', async ({ world }) => {
      await using folder = await temporaryFolder()
      const ann = await world.user()
      const bob = await world.user()
      const project = await world.project({
        members: [
          [ann, 'maintainer'],
          [bob, 'maintainer'],
        ],
      })
      const work = await withLargeFile(folder.path, world.remote(project, ann))
      await git(work, 'push', '-q', 'origin', 'main')
      await git(work, 'lfs', 'lock', 'a.bin')
      expect(await git(work, 'lfs', 'locks')).toMatch(new RegExp(`^a\\.bin\\s+Name of ${ann.username}\\s+ID:\\d+$`))

      await writeFile(join(work, 'a.bin'), randomBytes(1000))
      await git(work, 'commit', '-qam', 'Change it')
      const asBob = world.remote(project, bob)
      await git(work, 'config', `lfs.${asBob}/info/lfs.locksverify`, 'true')
      await expect(git(work, 'push', '-q', asBob, 'main')).rejects.toThrow(/locked/)
      await git(work, 'lfs', 'unlock', '--force', 'a.bin')
      await git(work, 'push', '-q', asBob, 'main')
    })

    test('an LFS push is refused for users who cannot read the project', async ({ world }) => {
      await using folder = await temporaryFolder()
      const ann = await world.user()
      const project = await world.project()
      const work = await withLargeFile(folder.path, world.remote(project, ann))
      await expect(git(work, 'lfs', 'push', 'origin', 'main')).rejects.toThrow(/not found|Not found/i)
    })
  },
)
