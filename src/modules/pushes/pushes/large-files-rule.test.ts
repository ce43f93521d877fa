import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { deleteLargeFiles } from '../../../../test/tables/pushes.ts'
import { git, temporaryFolder, test, unique } from '../../../../test/world.ts'
import { parsePointer } from '../../../git/objects/pointers.ts'
import { oidOf, upload } from '../large-files/testing.ts'

const pointer = (content: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(content)}\nsize ${content.length}\n`

const refusal = /LFS objects are missing\. Ensure LFS is properly set up or try a manual "git lfs push --all"\./

describe('pushes with LFS pointers', () => {
  test('a push is refused until the LFS files of its whole history are uploaded', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = folder.path
    const url = world.remote(project, world.root)
    const content = unique('large')
    await git(work, 'init', '-q', '-b', 'main')
    await writeFile(join(work, 'large.bin'), pointer(content))
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'Point')
    await git(work, 'rm', '-q', 'large.bin')
    await git(work, 'commit', '-qm', 'Point no more')

    await expect(git(work, 'push', '-q', url, 'main')).rejects.toThrow(refusal)
    expect(await git(work, 'ls-remote', url)).toBe('')
    const other = await world.project()
    await upload(world.root, other, content)
    await expect(git(work, 'push', '-q', url, 'main')).rejects.toThrow(refusal)
    await upload(world.root, project, content)
    await git(work, 'push', '-q', url, 'main')
    // Existing commits are not checked again.
    await deleteLargeFiles(world, project.id)
    await git(work, 'push', '-q', url, 'main~1:refs/heads/again')
    await git(work, 'push', '-q', url, ':again')
  })

  test('a push with missing LFS files is accepted when LFS is disabled', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project({ lfs_enabled: false })
    await git(folder.path, 'init', '-q', '-b', 'main')
    await writeFile(join(folder.path, 'large.bin'), pointer(unique('large')))
    await git(folder.path, 'add', '.')
    await git(folder.path, 'commit', '-qm', 'Point')
    await git(folder.path, 'push', '-q', world.remote(project, world.root), 'main')
  })

  test('a missing LFS file is found among thousands of small files', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    await git(folder.path, 'init', '-q', '-b', 'main')
    await Promise.all(
      Array.from({ length: 1200 }, (_, n) =>
        writeFile(join(folder.path, `${n}`), n === 700 ? pointer(unique('large')) : `small ${n}\n`),
      ),
    )
    await git(folder.path, 'add', '.')
    await git(folder.path, 'commit', '-qm', 'Many')
    await expect(git(folder.path, 'push', '-q', world.remote(project, world.root), 'main')).rejects.toThrow(refusal)
  })
})

describe('LFS pointers', () => {
  test.for([
    [`version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`, 'a'.repeat(64)],
    [
      `version https://git-lfs.github.com/spec/v1\next-0-x sha256:b\noid sha256:${'a'.repeat(64)}\nsize 12\n`,
      'a'.repeat(64),
    ],
    [`version https://git-lfs.github.com/spec/v1\noid sha256:${'A'.repeat(64)}\nsize 12\n`, undefined],
    [`version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\n`, undefined],
    [`oid sha256:${'a'.repeat(64)}\nsize 12\n`, undefined],
    ['', undefined],
  ])('the LFS pointer %j names %s', ([text, oid]) => {
    expect(parsePointer(text!)?.oid).toBe(oid)
  })
})
