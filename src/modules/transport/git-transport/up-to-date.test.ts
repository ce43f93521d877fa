import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { gitSsh, hasSsh, sshUrl, withKey } from '../../../../test/ssh.ts'
import { git, temporaryFolder, test } from '../../../../test/world.ts'
import { gitCommands } from '../../repository/commits/testing.ts'

test('a list of refs, and a fetch that finds nothing new, need no process', async ({ world }) => {
  await using folder = await temporaryFolder()
  const project = await world.project()
  const url = world.remote(project, world.root)
  const work = folder.path
  await git(work, 'init', '-q', '-b', 'main')
  await writeFile(join(work, 'file'), 'one\n')
  await git(work, 'add', '.')
  await git(work, 'commit', '-qm', 'First')
  await git(work, 'tag', '-am', 'First', 'v1')
  await git(work, 'push', '-q', url, 'main', 'v1')
  await git(work, 'fetch', '-q', url, 'main')

  expect(await gitCommands(world, () => git(work, 'fetch', '-q', url, 'main'))).toEqual([])
  const commit = (await git(work, 'rev-parse', 'HEAD')).trim()
  const tag = (await git(work, 'rev-parse', 'v1')).trim()
  let listed = ''
  const list = async () => {
    listed = await git(work, 'ls-remote', '--symref', url)
  }
  expect(await gitCommands(world, list)).toEqual([])
  expect(listed.trim()).toBe(
    `ref: refs/heads/main\tHEAD\n${commit}\tHEAD\n${commit}\trefs/heads/main\n${tag}\trefs/tags/v1\n${commit}\trefs/tags/v1^{}`,
  )
})

test.skipIf(!hasSsh)(
  'nor do they over SSH; a fetch of more starts git when it asks for it (needs OpenSSH)',
  async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = folder.path
    const key = await withKey(work, world.root)
    const url = sshUrl(world, project)
    const ssh = async (...words: string[]): Promise<string> => {
      const { code, out, err } = await gitSsh(world, key, work, ...words)
      expect(code, err).toBe(0)
      return out
    }
    await git(work, 'init', '-q', '-b', 'main')
    await git(work, 'commit', '-q', '--allow-empty', '-m', 'First')
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    await ssh('fetch', '-q', url, 'main')

    const commit = (await git(work, 'rev-parse', 'HEAD')).trim()
    expect(await gitCommands(world, () => ssh('fetch', '-q', url, 'main'))).toEqual([])
    let listed = ''
    const list = async () => {
      listed = await ssh('ls-remote', url)
    }
    expect(await gitCommands(world, list)).toEqual([])
    expect(listed.trim()).toBe(`${commit}\tHEAD\n${commit}\trefs/heads/main`)
    // A negotiation of several rounds.
    const other = join(work, 'other')
    await ssh('clone', '-q', url, other)
    for (const [place, name] of [
      [work, 'Change'],
      [other, 'Other'],
    ] as const)
      for (let n = 0; n < 60; n++) await git(place, 'commit', '-q', '--allow-empty', '-m', `${name} ${n}`)
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    const words = await gitCommands(world, () => ssh('-C', other, 'fetch', '-q', url, 'main'))
    expect(words.map((each) => each.split(' ')[0])).toEqual(['upload-pack'])
    expect((await git(other, 'rev-list', '--count', 'FETCH_HEAD')).trim()).toBe('61')
  },
)
