import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect } from 'vitest'
import { changeProject } from '../../../../test/tables/projects.ts'
import { deleteLargeFiles, largeFilesOf } from '../../../../test/tables/pushes.ts'
import { git, type TestProject, temporaryFolder, test, unique, type World } from '../../../../test/world.ts'
import { parsePointer } from '../../../git/objects/pointers.ts'
import { gitCommands } from '../../repository/commits/testing.ts'
import { oidOf, upload } from '../large-files/testing.ts'
import { cloned } from './testing.ts'

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

  /** A project with a first commit, a fork of it, and a working copy with the branch `large`, which points to an LFS file. */
  async function withFork(world: World, work: string) {
    const [source, fork] = [
      await world.project({ visibility: 'public' }),
      await world.project({ visibility: 'public' }),
    ]
    await changeProject(world, fork.id, { forked_from_project_id: source.id })
    await git(work, 'init', '-q', '-b', 'main')
    await git(work, 'commit', '-q', '--allow-empty', '-m', 'First')
    for (const project of [source, fork]) await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    const content = unique('large')
    await git(work, 'switch', '-q', '-c', 'large')
    await writeFile(join(work, 'large.bin'), pointer(content))
    await git(work, 'add', '.')
    await git(work, 'commit', '-qm', 'Point')
    const push = (project: TestProject) => git(work, 'push', '-q', world.remote(project, world.root), 'large')
    return { source, fork, content, oid: oidOf(content), push }
  }

  test('a fork keeps the LFS files of its source to which pushed commits point, also pushed without LFS', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const { source, fork, content, oid, push } = await withFork(world, folder.path)
    await expect(push(fork)).rejects.toThrow(refusal)
    await upload(world.root, source, content)
    await push(fork)
    expect((await world.root.delete(`/projects/${fork.id}/fork`)).status).toBe(204)
    expect(await largeFilesOf(world, fork.id, 'oid')).toEqual([{ oid }])
  })

  test('commits that only a merge request from a fork has are refused until their LFS files are uploaded', async ({
    world,
  }) => {
    await using folder = await temporaryFolder()
    const { source, fork, content, push } = await withFork(world, folder.path)
    await upload(world.root, fork, content)
    await push(fork)
    const wish = { source_branch: 'large', target_branch: 'main', target_project_id: source.id, title: 'Large' }
    expect((await world.root.post(`/projects/${fork.id}/merge_requests`, wish)).status).toBe(201)
    await expect(push(source)).rejects.toThrow(refusal)
    await upload(world.root, source, content)
    await push(source)
  })

  test.for([
    ['small enough to be received without git', 1],
    ['of many files', 150],
  ] as const)('a push %s is refused if a pointer has another size than its LFS file', async ([, count], { world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const url = world.remote(project, world.root)
    const content = unique('large')
    await upload(world.root, project, content)
    await git(folder.path, 'init', '-q', '-b', 'main')
    const commit = async (text: string) => {
      for (let n = 0; n < count; n++) await writeFile(join(folder.path, `${n}`), `${text}${n}`)
      await writeFile(join(folder.path, 'large.bin'), text)
      await git(folder.path, 'add', '.')
      await git(folder.path, 'commit', '-qm', 'Point')
    }
    await commit(pointer(content).replace(/size .*/, 'size 7'))
    await expect(git(folder.path, 'push', '-q', url, 'main')).rejects.toThrow(
      `The LFS object ${oidOf(content)} has ${content.length} bytes, and a pointer to it says 7.`,
    )
    await git(folder.path, 'update-ref', '-d', 'HEAD')
    await commit(pointer(content))
    await git(folder.path, 'push', '-q', url, 'main')
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

  test('a push of one commit is checked for LFS files without a process', async ({ world }) => {
    await using folder = await temporaryFolder()
    const project = await world.project()
    const work = folder.path
    const url = world.remote(project, world.root)
    const commit = async (files: Record<string, string>) => {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(work, name)), { recursive: true })
        await writeFile(join(work, name), text)
      }
      await git(work, 'add', '.')
      await git(work, 'commit', '-qm', 'Change')
    }
    const push = (...refs: string[]) => git(work, 'push', '-q', url, ...refs)
    const started = async (...refs: string[]) =>
      (await gitCommands(world, () => push(...refs))).map((words) => words.replace(/^--git-dir=\S+ /, '').split(' ')[0])
    await git(work, 'init', '-q', '-b', 'main')
    await commit({ 'src/a': 'a\n', 'src/deep/b': 'b\n' })
    await push('main')

    await commit({ 'src/deep/b': 'more\n' })
    expect(await started('main:refs/heads/more')).toEqual([])
    const content = unique('large')
    await commit({ 'src/deep/c': pointer(content) })
    await commit({ 'src/d': 'd\n' })
    await expect(push('main')).rejects.toThrow(refusal)
    await expect(push('main:refs/heads/other')).rejects.toThrow(refusal)
    await git(work, 'mv', 'src/deep', 'moved')
    await git(work, 'commit', '-qm', 'Move')
    await expect(push('main')).rejects.toThrow(refusal)
    await upload(world.root, project, content)
    await push('main')

    // A file that only an unreachable commit has is checked again.
    const again = unique('again')
    await upload(world.root, project, again)
    await git(work, 'switch', '-q', '-c', 'topic')
    await commit({ e: pointer(again) })
    await push('topic')
    await push(':topic')
    await deleteLargeFiles(world, project.id)
    await expect(push('topic')).rejects.toThrow(refusal)
  })

  test('under push rules, missing LFS files are found with the list of files that the rules check', async ({
    world,
  }) => {
    await using at = await cloned(world)
    await at.rule({ file_name_regex: '\\.exe$' })
    const content = unique('large')
    await at.commit('Point', 'large.bin', pointer(content))
    await at.git('rm', '-q', 'large.bin')
    await at.commit('Point no more')
    expect(((await at.push('HEAD:main')) as string[])[0]).toMatch(refusal)
    await at.rule({ commit_message_regex: 'Point' })
    expect(((await at.push('HEAD:main')) as string[])[0]).toMatch(refusal)
    await at.rule({ max_file_size: 1 })
    expect(((await at.push('HEAD:main')) as string[])[0]).toMatch(refusal)
    await upload(at.ann, at, content)
    expect(await at.push('HEAD:main')).toBe('pushed')
  })

  test('a large push under push rules lists its new files once', async ({ world }) => {
    await using at = await cloned(world)
    await Promise.all(Array.from({ length: 120 }, (_, n) => writeFile(join(at.work, `${n}`), `small ${n}\n`)))
    await at.commit()
    const lists = async () =>
      (await gitCommands(world, () => at.push('HEAD:main')))
        .map((words) => words.split(' ').slice(1, 3).join(' '))
        .filter((words) => /^(log|rev-list --objects)/.test(words))
    await at.rule({ max_file_size: 1 })
    expect(await lists()).toEqual(['log --format=format:%x00%H'])
  })

  test('under push rules, pointers and large files are found among the last of thousands of new files', async ({
    world,
  }) => {
    await using at = await cloned(world)
    const content = unique('large')
    const old = await at.commit('Old', 'large.bin', pointer(content))
    const large = await at.commit('Large', 'z.bin', 'x'.repeat(1_100_000))
    // Git lists the newest commit first, and its files are more than are checked together.
    await Promise.all(Array.from({ length: 2100 }, (_, n) => writeFile(join(at.work, `${n}`), `small ${n}\n`)))
    await at.commit('New')
    await at.rule({ max_file_size: 2 })
    expect(((await at.push('HEAD:main')) as string[])[0]).toMatch(refusal)
    await upload(at.ann, at, content)
    await at.rule({ max_file_size: 1 })
    const refused = ((await at.push('HEAD:main')) as string[]).join('\n')
    expect(refused).toContain('File "z.bin" is larger than the allowed size of 1 MB')
    expect(refused).toContain(large)
    expect(refused).not.toContain(old)
    await at.rule({ max_file_size: 2 })
    expect(await at.push('HEAD:main')).toBe('pushed')
  })

  test('a tag of a file that points to a missing LFS file is refused under push rules', async ({ world }) => {
    await using at = await cloned(world)
    await at.rule({ max_file_size: 1 })
    await at.commit('Point', 'large.bin', pointer(unique('large')))
    const blob = (await at.git('rev-parse', 'HEAD:large.bin')).trim()
    await at.reset()
    await at.commit()
    expect(((await at.push('HEAD:main', `${blob}:refs/tags/file`)) as string[])[0]).toMatch(refusal)
    expect(await at.push('HEAD:main')).toBe('pushed')
  })

  test('under push rules, LFS files of commits that a hidden ref has already are not checked again', async ({
    world,
  }) => {
    await using at = await cloned(world)
    await at.rule({ max_file_size: 1 })
    const commit = await at.commit('Point', 'large.bin', pointer(unique('large')))
    expect(((await at.push('HEAD:main')) as string[])[0]).toMatch(refusal)
    at.repository.git('fetch', '-q', at.work, `${commit}:refs/hidden/kept`)
    expect(await at.push('HEAD:main')).toBe('pushed')
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
