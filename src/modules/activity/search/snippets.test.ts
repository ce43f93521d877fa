import { describe, expect } from 'vitest'
import { type Client, test, unique } from '../../../../test/world.ts'
import { createSnippet } from '../../text/snippets/testing.ts'

const found = async (who: Client, within: string, scope: string, search: string): Promise<number[]> => {
  const { status, json, text } = await who.get(`${within}/search?scope=${scope}&search=${search}`)
  expect(status, text).toBe(200)
  return json.map(({ id }: { id: number }) => id)
}

describe('search of snippets', () => {
  test('snippets are found by title, description, name of the first file, and by their content', async ({ world }) => {
    const project = await world.project({ visibility: 'public' })
    const words = { title: unique('title'), description: unique('text'), file_name: `${unique('name')}.rb` }
    const content = unique('content')
    const { id } = await createSnippet(world, { project, visibility: 'public', ...words, content: `a\n${content}\n` })
    const own = await createSnippet(world, { ...words, content })
    const within = `/projects/${project.id}`
    for (const word of Object.values(words)) {
      expect(await found(world.root, '', 'snippet_titles', word), word).toEqual([own.id, id])
      expect(await found(world.root, within, 'snippets', word), word).toEqual([id])
    }
    expect(await found(world.root, '', 'snippet_titles', content)).toEqual([])
    expect(await found(world.root, '', 'snippet_blobs', content)).toEqual([own.id, id])
    expect(await found(world.root, within, 'snippet_blobs', content.toUpperCase())).toEqual([id])
    expect((await world.root.get(`/search?scope=snippet_blobs&search=${content}&per_page=1`)).headers['x-total']).toBe(
      '2',
    )
  })

  test('a search finds only snippets that the caller may read', async ({ world }) => {
    const [author, guest, stranger] = [await world.user(), await world.user(), await world.user()]
    const external = await world.user({ external: true })
    const project = await world.project({
      visibility: 'public',
      members: [
        [author, 'reporter'],
        [guest, 'guest'],
      ],
    })
    const word = unique('word')
    const made = async (more: object) =>
      (await createSnippet(world, { author, title: word, content: word, ...more })).id
    const ids: number[] = []
    for (const visibility of ['private', 'internal', 'public']) ids.push(await made({ visibility, project }))
    for (const visibility of ['private', 'internal', 'public']) ids.push(await made({ visibility }))
    const [privateOne, internalOne, publicOne, ownPrivate, ownInternal, ownPublic] = ids as [number, ...number[]]
    const expected = new Map([
      [author, ids],
      [world.root, ids],
      [guest, [privateOne, internalOne, publicOne, ownInternal, ownPublic]],
      [stranger, [internalOne, publicOne, ownInternal, ownPublic]],
      [external, [publicOne, ownPublic]],
    ])
    expect(ownPrivate).toBeDefined()
    for (const [who, may] of expected)
      for (const scope of ['snippet_titles', 'snippet_blobs']) {
        expect(await found(who, '', scope, word), `${who.username} ${scope}`).toEqual(may.toReversed())
        const inProject = may.filter((id) => ids.indexOf(id!) < 3).toReversed()
        const ofProject = scope === 'snippet_titles' ? 'snippets' : scope
        expect(await found(who, `/projects/${project.id}`, ofProject, word), who.username!).toEqual(inProject)
      }
    await world.root.put(`/projects/${project.id}`, { snippets_access_level: 'disabled' })
    expect(await found(world.root, '', 'snippet_titles', word)).toEqual([ownPublic, ownInternal, ownPrivate])
    expect((await guest.get(`/projects/${project.id}/search?scope=snippets&search=${word}`)).status).toBe(403)
  })
})
