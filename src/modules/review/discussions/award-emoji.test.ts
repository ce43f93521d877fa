import { describe, expect } from 'vitest'
import { emojiOfNote } from '../../../../test/tables/discussion.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'

const refused = (message: string) => ({
  status: 404,
  json: { message: `404 Award Emoji {:name=>["${message}"]} Not Found` },
})
const notThere = { status: 404, json: { message: '404 Not found' } }

/** A public merge request with a note, and the paths of the awards of both. */
async function awarded(world: World) {
  const opened = await openMergeRequest(world)
  const note = (await world.root.post(`${opened.at}/notes`, { body: 'x' })).json
  return { ...opened, note, mine: `${opened.at}/award_emoji`, noted: `${opened.at}/notes/${note.id}/award_emoji` }
}

describe('award emoji', () => {
  test('awards of a merge request and of its notes are separate', async ({ world }) => {
    const { mine, noted, id, note } = await awarded(world)
    const [ann, bob] = [await world.user(), await world.user()]
    for (const [path, awardable] of [
      [mine, { awardable_id: id, awardable_type: 'MergeRequest' }],
      [noted, { awardable_id: note.id, awardable_type: 'Note' }],
    ] as const) {
      const given = await ann.post(path, { name: 'tada' })
      expect(given.status).toBe(201)
      expect(given.json).toEqual({
        id: expect.any(Number),
        name: 'tada',
        user: expect.objectContaining({ id: ann.id, username: ann.username }),
        created_at: expect.stringMatching(/Z$/),
        updated_at: given.json.created_at,
        ...awardable,
      })
      await bob.post(path, { name: 'rocket' })
      expect((await bob.get(path)).json).toMatchObject([given.json, { name: 'rocket', user: { id: bob.id } }])
      expect((await bob.get(`${path}/${given.json.id}`)).json).toEqual(given.json)
      const other = path === mine ? noted : mine
      expect(await bob.get(`${other}/${given.json.id}`)).toMatchObject(notThere)
      expect(await ann.delete(`${other}/${given.json.id}`)).toMatchObject(notThere)
    }
  })

  test('404 for an unknown or repeated award', async ({ world }) => {
    const { mine } = await awarded(world)
    const [ann, bob] = [await world.user(), await world.user()]
    for (const name of ['nosuch', '', ':tada:', '__proto__', 'constructor'])
      expect(await ann.post(mine, { name })).toMatchObject(refused('is not included in the list'))
    expect((await ann.post(mine, { name: 'tada' })).status).toBe(201)
    expect(await ann.post(mine, { name: 'tada' })).toMatchObject(refused('has already been taken'))
    expect((await bob.post(mine, { name: 'tada' })).status).toBe(201)
    expect(await ann.post(mine, {})).toMatchObject({ status: 400, json: { error: 'name is missing' } })
  })

  test('thumbs count as votes, under all their names', async ({ world }) => {
    const { mine, noted, at } = await awarded(world)
    const [ann, bob] = [await world.user(), await world.user()]
    expect((await ann.post(mine, { name: '+1' })).json.name).toBe('thumbsup')
    expect(await ann.post(mine, { name: 'thumbsup' })).toMatchObject(refused('has already been taken'))
    await bob.post(mine, { name: 'thumbsup' })
    await bob.post(mine, { name: '-1' })
    await bob.post(noted, { name: 'thumbsup' })
    expect((await ann.get(at)).json).toMatchObject({ upvotes: 2, downvotes: 1 })
  })

  test('awards are deleted by their user and by administrators', async ({ world }) => {
    const { mine } = await awarded(world)
    const [ann, bob] = [await world.user(), await world.user()]
    const give = async () => `${mine}/${(await ann.post(mine, { name: 'tada' })).json.id}`
    const one = await give()
    expect(await bob.delete(one)).toMatchObject({ status: 401, json: { message: '401 Unauthorized' } })
    const headers = { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }
    expect((await ann.delete(one, { headers })).status).toBe(412)
    expect(await ann.delete(one)).toMatchObject({ status: 204, text: '' })
    expect(await ann.delete(one)).toMatchObject(notThere)
    expect((await world.root.delete(await give())).status).toBe(204)
  })

  test('403 for an award of a system note', async ({ world }) => {
    const { at } = await awarded(world)
    await world.root.post(`${at}/time_estimate`, { duration: '1h' })
    const [systemNote] = (await world.root.get(`${at}/notes`)).json
    expect((await world.root.post(`${at}/notes/${systemNote.id}/award_emoji`, { name: 'tada' })).status).toBe(403)
  })

  test('awards are deleted with their note', async ({ world }) => {
    const { at, note, noted } = await awarded(world)
    await world.root.post(noted, { name: 'tada' })
    await world.root.delete(`${at}/notes/${note.id}`)
    expect(await world.root.get(noted)).toMatchObject(notThere)
    expect(await emojiOfNote(world, note.id)).toEqual([])
  })

  test('one of several concurrent awards of the same name succeeds', async ({ world }) => {
    const { mine } = await awarded(world)
    const ann = await world.user()
    const all = await Promise.all(Array.from({ length: 8 }, () => ann.post(mine, { name: 'tada' })))
    expect(all.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(404)])
    expect((await ann.get(mine)).json).toHaveLength(1)
  })

  test('awards emit events', async ({ world }) => {
    const { mine, id } = await awarded(world)
    const ann: Client = await world.user()
    const { json } = await ann.post(mine, { name: 'tada' })
    await ann.delete(`${mine}/${json.id}`)
    const events = await eventsOf(world, { actor: ann.id, kind: 'award_emoji_%' }, 'kind', 'payload')
    const payload = {
      award_emoji_id: json.id,
      name: 'tada',
      noteable_type: 'MergeRequest',
      noteable_id: id,
      note_id: null,
    }
    expect(events).toMatchObject([
      { kind: 'award_emoji_given', payload },
      { kind: 'award_emoji_withdrawn', payload },
    ])
  })
})
