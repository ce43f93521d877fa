import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { git, type TestProject, temporaryFolder, test } from '../world.ts'

test.for([
  ['many', 150],
  ['few', 2],
] as const)(
  'a push of %s objects to a repository without its packs is refused in a sentence',
  async ([, count], { world }) => {
    await using folder = await temporaryFolder()
    const work = folder.path
    const { full_path, repository } = await storedProject(world)
    repository.commit({ a: 'a\n'.repeat(2000) })
    repository.git('repack', '-adq')
    await git(work, 'clone', '-q', '--no-hardlinks', repository.gitDir, '.')
    const packs = join(repository.gitDir, 'objects/pack')
    for (const name of await readdir(packs)) await rm(join(packs, name))
    const url = world.remote({ url: `${world.origin}/${full_path}.git` } as TestProject, world.root)
    for (let at = 0; at < count; at++) await writeFile(join(work, `${at}.txt`), String(at))
    await writeFile(join(work, 'a'), `${'a\n'.repeat(2000)}b`)
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'More')
    await expect(git(work, 'push', '-q', url, 'HEAD:refs/heads/other')).rejects.toThrow('The repository is damaged')
  },
)
