import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { git, temporaryFolder, test } from '../../../../test/world.ts'
import { gitIn } from '../../../git/testing.ts'
import { edited, files, holder, page, remoteOf, write } from './testing.ts'

describe('pushed wikis', () => {
  test('pages are read as files of any name are pushed', async ({ world }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'home', content: 'h' })
    await edited(world, held, (clone) =>
      write(clone, {
        'Big plans.md': 'plans',
        'my notes/Über uns.org': 'us',
        'both.rdoc': 'rdoc',
        'both.md': 'md',
        'script.sh': 'no page',
      }),
    )
    expect((await world.root.get(held.at)).json.map(({ slug }: { slug: string }) => slug)).toEqual([
      'Big-plans',
      'both',
      'home',
      'my-notes/Über-uns',
    ])
    const read = async (slug: string) => (await world.root.get(`${held.at}/${page(slug)}`)).json.content
    expect(await read('Big-plans')).toBe('plans')
    expect(await read('Big plans')).toBe('plans')
    expect(await read('my-notes/Über-uns')).toBe('us')
    expect(await read('both')).toBe('md')
    expect((await world.root.get(`${held.at}/script`)).status).toBe(404)
    await world.root.put(`${held.at}/Big-plans`, { content: 'changed' })
    expect(await files(world, held)).toContain('Big plans.md')
  })

  test('a pushed page that is not UTF-8 is read in its probable charset', async ({ world }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'home', content: 'h' })
    await edited(world, held, (clone) =>
      writeFile(join(clone, 'latin.md'), Buffer.from('Grüße aus Köln, schöne Straße', 'latin1')),
    )
    expect((await world.root.get(`${held.at}/latin`)).json.content).toBe('Grüße aus Köln, schöne Straße')
  })

  test('413 for a page below a directory of very many files; the pages of that directory are read', async ({
    world,
  }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'docs/home', content: 'h' })
    await using folder = await temporaryFolder()
    await git(folder.path, 'clone', '-q', remoteOf(world, held), 'clone')
    const clone = join(folder.path, 'clone')
    const blob = gitIn(clone, ['hash-object', '-w', '--stdin'], 'one').trim()
    const many = Array.from({ length: 100_001 }, (_, index) => `100644 blob ${blob}\tp${index}.txt\n`)
    const docs = (await git(clone, 'ls-tree', 'HEAD', 'docs')).trim()
    const tree = gitIn(clone, ['mktree'], `${many.join('')}100644 blob ${blob}\tz.md\n${docs}\n`).trim()
    const commit = (await git(clone, 'commit-tree', '-p', 'HEAD', '-m', 'Many', tree)).trim()
    await git(clone, 'push', '-q', 'origin', `${commit}:refs/heads/master`)
    expect((await world.root.get(`${held.at}/${page('docs/home')}`)).status).toBe(413)
    expect((await world.root.get(`${held.at}/z`)).json).toMatchObject({ content: 'one' })
  })

  test('only the default branch is the wiki', async ({ world }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'home', content: 'h' })
    await using folder = await temporaryFolder()
    await git(folder.path, 'clone', '-q', remoteOf(world, held), 'clone')
    const clone = join(folder.path, 'clone')
    await write(clone, { 'draft.md': 'draft' })
    await git(clone, 'add', '.')
    await git(clone, 'commit', '-qm', 'Draft')
    await git(clone, 'push', '-q', 'origin', 'HEAD:draft')
    expect((await world.root.get(held.at)).json).toHaveLength(1)
  })

  test('links, directories and submodules are no pages, and a link leads nowhere', async ({ world }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'home', content: 'h' })
    await edited(world, held, async (clone) => {
      await write(clone, { 'folder.md/inner.md': 'inner' })
      await git(clone, 'update-index', '--add', '--cacheinfo', `120000,${await hashOf(clone, '/etc/passwd')},link.md`)
    })
    expect((await world.root.get(held.at)).json.map(({ slug }: { slug: string }) => slug)).toEqual([
      'folder.md/inner',
      'home',
    ])
    expect((await world.root.get(`${held.at}/link`)).status).toBe(404)
    expect((await world.root.get(`${held.at}/folder`)).status).toBe(404)
    expect((await world.root.post(held.at, { title: 'folder', content: 'x' })).status).toBe(409)
  })
})

async function hashOf(clone: string, text: string): Promise<string> {
  await writeFile(join(clone, '.target'), text)
  const hash = await git(clone, 'hash-object', '-w', '.target')
  await git(clone, 'clean', '-fdq', '.target')
  return hash
}
