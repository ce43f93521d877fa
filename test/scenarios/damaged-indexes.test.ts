import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { git, type TestProject, temporaryFolder, test, type World } from '../world.ts'

/** A project with two packs, an index of both, a bitmap, and reverse indexes. */
async function packedProject(world: World) {
  const project = await storedProject(world)
  const { repository } = project
  for (let at = 0; at < 40; at++) repository.commit({ [`f${at}`]: String(at) })
  repository.git('repack', '-adq')
  for (let at = 0; at < 3; at++) repository.commit({ g: String(at) })
  repository.git('-c', 'pack.writeReverseIndex=true', 'repack', '-dq')
  repository.git('multi-pack-index', 'write', '--bitmap')
  const packs = join(repository.gitDir, 'objects/pack')
  const url = world.remote({ url: `${world.origin}/${project.full_path}.git` } as TestProject, world.root)
  return { ...project, packs, url }
}

/** Replaces files of a folder whose names match, by `damage`; returns their names. */
async function spoil(folder: string, pattern: RegExp, damage: (content: Buffer) => Buffer | null): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => pattern.test(name))
  for (const name of names) {
    const path = join(folder, name)
    const content = damage(await readFile(path))
    // Git has the file mapped into memory, so it is replaced.
    await rm(path)
    if (content) await writeFile(path, content)
  }
  // As if the damage had been there for long.
  await utimes(folder, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000))
  return names
}

const chunkOf = (content: Buffer, name: string) => Number(content.readBigUInt64BE(content.indexOf(name) + 4))
const noise = (content: Buffer) =>
  Buffer.concat([content.subarray(0, 100), content.subarray(100).map((byte) => byte ^ 0x5a)])
const noIds = (content: Buffer) => {
  content.fill(0xaa, chunkOf(content, 'OIDL'), chunkOf(content, 'OOFF'))
  return content
}
const noPlaces = (content: Buffer) => {
  const [from, to] = [chunkOf(content, 'OOFF'), content.length - 20]
  content.fill(0x7f, from, to)
  return content
}
const noFanout = (content: Buffer) => {
  // Below zero, so that git reads before the ids.
  const at = chunkOf(content, 'OIDF')
  content.fill(0xff, at, at + 1024)
  return content
}

describe.for([
  ['an index of all packs without ids', /^multi-pack-index$/, noIds],
  ['an index of all packs without places', /^multi-pack-index$/, noPlaces],
  ['an index of all packs that makes git crash', /^multi-pack-index$/, noFanout],
  ['a noisy bitmap', /\.bitmap$/, noise],
  ['a noisy reverse index', /\.rev$/, (content: Buffer) => content.fill(0x77, 12, content.length - 20)],
  ['a noisy index of a pack', /\.idx$/, noise],
  ['an empty index of a pack', /\.idx$/, () => Buffer.alloc(0)],
  ['a lost index of a pack', /\.idx$/, () => null],
] as const)('%s', ([, pattern, damage]) => {
  test('is mended, and hides no branch, commit or file', async ({ world }) => {
    const { id, repository, packs } = await packedProject(world)
    expect(await spoil(packs, pattern, damage)).not.toEqual([])
    const at = `/projects/${id}/repository`
    for (const what of ['commits/main', 'branches/main', 'files/f7/raw?ref=main', 'commits?path=f3', 'archive'])
      await expect
        .poll(async () => (await world.root.get(`${at}/${what}`)).status, { message: what, timeout: 10_000 })
        .toBe(200)
    expect((await world.root.get(`${at}/commits?path=f3`)).json).toHaveLength(1)
    repository.git('fsck', '--full')
  })

  test('is mended after a fetch at the latest, and after a push', async ({ world }) => {
    await using folder = await temporaryFolder()
    const { repository, packs, url } = await packedProject(world)
    await git(folder.path, 'clone', '-q', repository.gitDir, 'work')
    const work = join(folder.path, 'work')
    await spoil(packs, pattern, damage)
    let count = 0
    await expect
      .poll(() => git(folder.path, 'clone', '-q', '--mirror', url, `clone${count++}`).then(() => 'done', String), {
        timeout: 10_000,
      })
      .toBe('done')
    const clone = join(folder.path, `clone${count - 1}`)
    expect(await git(clone, 'rev-list', '--count', 'main')).toBe('43')
    await git(clone, 'fsck', '--full')
    await writeFile(join(work, 'f1'), 'changed')
    await git(work, 'commit', '-qam', 'More')
    await expect
      .poll(() => git(work, 'push', '-q', url, 'HEAD:main').then(() => 'done', String), { timeout: 10_000 })
      .toBe('done')
    expect(repository.git('rev-list', '--count', 'main')).toBe('44')
  })
})
