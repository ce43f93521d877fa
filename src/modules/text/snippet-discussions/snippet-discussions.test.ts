import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { mailNoteJob } from '../../discussion/subscriptions/jobs.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { readTexts } from '../../review/closing/testing.ts'
import { createSnippet } from '../snippets/testing.ts'

/** A snippet of a public project. */
async function discussed(world: World, visibility = 'public') {
  const author = await world.user()
  const project = await storedProject(world, { visibility: 'public', members: [[author, 'reporter']] })
  return { author, project, ...(await createSnippet(world, { project, author, visibility })) }
}

const bodies = async (who: Client, path: string): Promise<string[]> =>
  (await who.get(path)).json.map(({ body }: { body: string }) => body)

describe('notes and awards of a snippet', () => {
  test('notes of a snippet are created, read, edited and deleted', async ({ world }) => {
    const { at, id } = await discussed(world)
    const [ann, bob] = [await world.user(), await world.user()]
    const made = await ann.post(`${at}/notes`, { body: 'Nice' })
    expect(made).toMatchObject({
      status: 201,
      json: {
        type: null,
        body: 'Nice',
        noteable_id: id,
        noteable_type: 'Snippet',
        noteable_iid: null,
        resolvable: false,
        author: { id: ann.id },
      },
    })
    const one = `${at}/notes/${made.json.id}`
    expect((await world.anonymous.get(one)).json).toEqual(made.json)
    expect((await bob.put(one, { body: 'x' })).status).toBe(403)
    expect((await ann.put(one, { body: 'Nicer' })).json.body).toBe('Nicer')
    expect((await bob.delete(one)).status).toBe(403)
    expect((await ann.delete(one)).status).toBe(204)
    expect(await bodies(ann, `${at}/notes`)).toEqual([])
  })

  test('discussions of a snippet are started and answered, and cannot be resolved', async ({ world }) => {
    const { at } = await discussed(world)
    const ann = await world.user()
    const { id } = (await ann.post(`${at}/discussions`, { body: 'Why?' })).json
    await ann.post(`${at}/discussions/${id}/notes`, { body: 'Because' })
    const { json } = await ann.get(`${at}/discussions/${id}`)
    expect(json).toMatchObject({
      individual_note: false,
      notes: [
        { body: 'Why?', type: 'DiscussionNote', resolvable: false },
        { body: 'Because', resolvable: false },
      ],
    })
    expect((await ann.put(`${at}/discussions/${id}`, { resolved: true })).status).toBe(405)
  })

  test('awards of a snippet and of its notes are separate', async ({ world }) => {
    const { at, id } = await discussed(world)
    const ann = await world.user()
    const note = (await ann.post(`${at}/notes`, { body: 'x' })).json
    const given = await ann.post(`${at}/award_emoji`, { name: 'tada' })
    expect(given).toMatchObject({ status: 201, json: { awardable_id: id, awardable_type: 'Snippet' } })
    const noted = await ann.post(`${at}/notes/${note.id}/award_emoji`, { name: 'rocket' })
    expect(noted.json).toMatchObject({ awardable_id: note.id, awardable_type: 'Note' })
    expect((await ann.get(`${at}/award_emoji`)).json).toEqual([given.json])
    expect((await ann.get(`${at}/award_emoji/${given.json.id}`)).json).toEqual(given.json)
    expect((await ann.get(`${at}/notes/${note.id}/award_emoji/${noted.json.id}`)).json).toEqual(noted.json)
    expect((await ann.post(`${at}/award_emoji`, { name: 'tada' })).status).toBe(404)
    expect((await ann.delete(`${at}/award_emoji/${given.json.id}`)).status).toBe(204)
  })

  test('404 for notes and awards of a snippet that is hidden from the caller', async ({ world }) => {
    const { at, author, project } = await discussed(world, 'private')
    const [ann, guest] = [await world.user(), await world.user()]
    await world.root.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
    const note = (await author.post(`${at}/notes`, { body: 'x' })).json
    const reads = ['notes', 'discussions', 'award_emoji', `notes/${note.id}`, `notes/${note.id}/award_emoji`]
    for (const path of reads) {
      expect((await ann.get(`${at}/${path}`)).status, path).toBe(404)
      expect((await world.anonymous.get(`${at}/${path}`)).status, path).toBe(404)
      expect((await guest.get(`${at}/${path}`)).status, path).toBe(200)
    }
    expect((await ann.post(`${at}/notes`, { body: 'x' })).status).toBe(404)
    expect((await guest.post(`${at}/notes`, { body: 'x' })).status).toBe(201)
  })

  test('no todos are added for mentions in snippets, but participants get a mail', async ({ world }) => {
    const { at, author } = await discussed(world)
    const [ann, bob] = [await world.user(), await world.user()]
    const { id } = (await ann.post(`${at}/notes`, { body: `For @${bob.username}` })).json
    expect((await bob.get('/todos')).json).toEqual([])
    for (const { payload } of await world.takeJobs(`mail_note:${id}`))
      await mailNoteJob.run(payload, await world.app.open(null))
    for (const who of [author, bob]) {
      const mails = await mailsTo(world, `${who.username}@example.com`)
      expect(mails.map(({ body }) => body)).toContainEqual(expect.stringContaining('A comment on a snippet:'))
    }
  })

  test('snippets and issues that mention each other have notes about it, for readers of both', async ({ world }) => {
    const { at, id, author, project } = await discussed(world)
    const hidden = await createSnippet(world, { project, author, visibility: 'private' })
    const issue = await openIssue(world, { project, description: `See $${id} and $${hidden.id}` })
    await author.post(`${hidden.at}/notes`, { body: `About #${issue.iid}` })
    await readTexts(world)
    expect(await bodies(world.root, `${at}/notes`)).toEqual([`mentioned in issue #${issue.iid}`])
    expect(await bodies(world.root, `${issue.at}/notes`)).toEqual([`mentioned in snippet $${hidden.id}`])
    expect(await bodies(await world.user(), `${issue.at}/notes`)).toEqual([])
  })

  test('notes of a snippet are deleted with it', async ({ world }) => {
    const { at, author, project } = await discussed(world)
    await author.post(`${at}/notes`, { body: 'Fleeting' })
    await author.delete(at)
    const { text } = await world.root.get(`/projects/${project.id}/search?scope=notes&search=Fleeting`)
    expect(text).toBe('[]')
  })
})
