import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import { openEpic } from '../../planning/epics/testing.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { commitTo, readTexts } from '../../review/closing/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

const notesOf = async (who: Client, at: string): Promise<string[]> =>
  (await who.get(`${at}/notes?sort=asc`)).json.map(({ body }: { body: string }) => body)

describe('notes about mentions of an issue, or by an issue', () => {
  test('descriptions and notes of issues and merge requests leave one note on each issue that they name', async ({
    world,
  }) => {
    const { project, at, iid } = await openMergeRequest(world, { description: 'See #1 and #2' })
    const first = await openIssue(world, { project, description: 'Like #1, not like #2' })
    const second = await openIssue(world, { project, description: `As #1 and !${iid} say` })
    await world.root.post(`${second.at}/notes`, { body: `Really: #1 and !${iid}` })
    await world.root.put(at, { title: 'About #1' })
    await readTexts(world)
    expect((await notesOf(world.root, first.at)).toSorted()).toEqual([
      'mentioned in issue #2',
      'mentioned in merge request !1',
    ])
    expect((await notesOf(world.root, second.at)).toSorted()).toEqual([
      'Really: #1 and !1',
      'mentioned in issue #1',
      'mentioned in merge request !1',
    ])
    expect(await notesOf(world.root, at)).toContain('mentioned in issue #2')
    expect((await world.root.get(second.at)).json.user_notes_count).toBe(1)
  })

  test('a note, snippet or epic that is changed leaves a note on the issue that it names then', async ({ world }) => {
    const epic = await openEpic(world)
    const project = await world.project({ group: epic.group })
    const named = await openIssue(world, { project })
    const other = await openIssue(world, { project })
    const { id } = (await world.root.post(`${other.at}/notes`, { body: 'Nothing' })).json
    const content = { file_name: 'a.txt', content: 'x', visibility: 'private' }
    const snippet = (await world.root.post(`/projects/${project.id}/snippets`, { title: 'Nothing', ...content })).json
    await readTexts(world)
    expect(await notesOf(world.root, named.at)).toEqual([])
    await world.root.put(`${other.at}/notes/${id}`, { body: 'See #1' })
    await world.root.put(`/projects/${project.id}/snippets/${snippet.id}`, { description: 'See #1' })
    await world.root.put(epic.at, { description: `See ${project.full_path}#1` })
    await readTexts(world)
    expect((await notesOf(world.root, named.at)).toSorted()).toEqual([
      `mentioned in epic &${epic.iid}`,
      'mentioned in issue #2',
      `mentioned in snippet $${snippet.id}`,
    ])
  })

  test('an issue of another project is named by its path or its URL', async ({ world }) => {
    const [named, other] = [await openIssue(world), await openIssue(world)]
    const source = await openIssue(world, {
      description: `${named.project.full_path}#1 and ${world.origin}/${other.project.full_path}/-/issues/1`,
    })
    await readTexts(world)
    const expected = [`mentioned in issue ${source.project.full_path}#1`]
    expect(await notesOf(world.root, named.at)).toEqual(expected)
    expect(await notesOf(world.root, other.at)).toEqual(expected)
  })

  test('a commit of any branch is named on the issue that its message names', async ({ world }) => {
    const { project } = await openMergeRequest(world)
    const { at } = await openIssue(world, { project })
    const sha = await commitTo(world, project.id, 'side', 'Part of #1, closes #1')
    await readTexts(world)
    expect(await notesOf(world.root, at)).toEqual([`mentioned in commit ${sha}`])
    expect((await world.root.get(at)).json.state).toBe('opened')
  })

  test('a mention by a confidential issue is hidden from users who cannot read that issue at the time of reading', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const named = await openIssue(world, {
      members: [
        [ann, 'reporter'],
        [bob, 'guest'],
      ],
    })
    const { project } = named
    await openIssue(world, { project, confidential: true, description: 'As in #1' })
    await readTexts(world)
    expect(await notesOf(ann, named.at)).toEqual(['mentioned in issue #2'])
    expect(await notesOf(bob, named.at)).toEqual([])
    expect((await bob.get(`${named.at}/discussions`)).json).toEqual([])
    const [{ id }] = (await ann.get(`${named.at}/notes`)).json
    expect((await bob.get(`${named.at}/notes/${id}`)).status).toBe(404)
    await world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 10 })
    expect(await notesOf(ann, named.at)).toEqual([])
    expect((await ann.get(`${named.at}/notes/${id}`)).status).toBe(404)
  })

  test('a confidential issue gets no note if the author of the text cannot read it', async ({ world }) => {
    const ann = await world.user()
    const named = await openIssue(world, { confidential: true, members: [[ann, 'guest']] })
    const source = await openIssue(world, { project: named.project, author: ann, description: 'See #1' })
    await readTexts(world)
    expect(await notesOf(world.root, named.at)).toEqual([])
    await world.root.put(`/projects/${named.project.id}/members/${ann.id}`, { access_level: 20 })
    await ann.post(`${source.at}/notes`, { body: 'See #1' })
    await readTexts(world)
    expect(await notesOf(world.root, named.at)).toEqual(['mentioned in issue #2'])
  })
})
