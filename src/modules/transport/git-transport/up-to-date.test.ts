import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
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
